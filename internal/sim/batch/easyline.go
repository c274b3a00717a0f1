package batch

import "slices"

// line is the waiting jobs in the order of arrival. Each has a turn, which is counted from
// the first that ever came; turns of jobs that have gone stay as gaps until the head has
// passed them.
type line struct {
	waits []waiter // by turn, from the turn base on
	base  int64
	head  int64   // the turn of the first that waits; end() where none does
	turns []int64 // by ID; of jobs that wait
}

// waiter is a job that waits, gone where none does any more.
type waiter struct {
	id ID
	at [maxTiers]int32 // its places in the index's rows, if it is there
}

const gone ID = -1

// end returns the turn of the next to arrive.
func (l *line) end() int64 { return l.base + int64(len(l.waits)) }

func (l *line) empty() bool { return l.head == l.end() }

// wait returns what waits at a turn.
func (l *line) wait(turn int64) *waiter { return &l.waits[turn-l.base] }

// push puts a job at the end.
func (l *line) push(id ID) {
	if n := int(id) + 1; n > len(l.turns) {
		l.turns = slices.Grow(l.turns, n-len(l.turns))[:n]
	}
	if len(l.waits) == cap(l.waits) && l.head-l.base > int64(len(l.waits)/2) {
		l.waits = l.waits[:copy(l.waits, l.waits[l.head-l.base:])]
		l.base = l.head
	}
	l.turns[id] = l.end()
	l.waits = append(l.waits, waiter{id: id})
}

// remove takes out the job at a turn.
func (l *line) remove(turn int64) {
	l.wait(turn).id = gone
	for l.head < l.end() && l.wait(l.head).id == gone {
		l.head++
	}
}
