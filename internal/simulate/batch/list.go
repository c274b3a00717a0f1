package batch

import "iter"

// link is a job's neighbours in its list.
type link struct{ before, after ID }

// none means no job.
const none ID = -1

// list is a linked list of jobs. A job is in at most one list, so that all lists share the links.
type list struct{ first, last ID }

func newList() list { return list{none, none} }

func (l *list) append(links []link, id ID) {
	links[id] = link{l.last, none}
	if l.last == none {
		l.first = id
	} else {
		links[l.last].after = id
	}
	l.last = id
}

func (l *list) remove(links []link, id ID) {
	k := links[id]
	if k.before == none {
		l.first = k.after
	} else {
		links[k.before].after = k.after
	}
	if k.after == none {
		l.last = k.before
	} else {
		links[k.after].before = k.before
	}
}

// all yields the jobs in order. The yielded job may be removed.
func (l *list) all(links []link) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := l.first; id != none; {
			after := links[id].after
			if !yield(id) {
				return
			}
			id = after
		}
	}
}
