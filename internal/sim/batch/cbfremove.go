package batch

import (
	"berth/internal/job"
)

// remove takes out the job of that start and turn.
func (a *agenda) remove(at job.Time, turn int32) {
	a.take(a.top, a.root, at, turn)
	for a.top > 0 && a.inners.at(a.root).n == 1 {
		id := a.root
		a.root = a.inners.at(id).e[0].kid
		a.inners.put(id)
		a.top--
	}
}

// take takes a job out below a block and returns it.
func (a *agenda) take(level int, id int32, at job.Time, turn int32) planned {
	if level == 0 {
		b := a.leaves.at(id)
		i := 0
		for b.e[i].turn != turn {
			i++
		}
		p := b.e[i]
		b.remove(i)
		return p
	}
	b := a.inners.at(id)
	i := kidAt(b, at, turn)
	p := a.take(level-1, b.e[i].kid, at, turn)
	switch n := a.size(level-1, b.e[i].kid); {
	case n == 0:
		a.drop(level-1, b.e[i].kid)
		b.remove(i)
	case n >= fan/4 || !a.tidy(level, b, i):
		a.renew(level-1, &b.e[i], &p)
	}
	return p
}

func (a *agenda) size(level int, id int32) int {
	if level == 0 {
		return a.leaves.at(id).n
	}
	return a.inners.at(id).n
}

func (a *agenda) drop(level int, id int32) {
	if level == 0 {
		a.leaves.put(id)
	} else {
		a.inners.put(id)
	}
}

// tidy joins what is below entry i, which has become small, with a neighbour that has room,
// if there is one, so that of two neighbours one at least is a quarter full.
func (a *agenda) tidy(level int, b *block[digest], i int) bool {
	n := a.size(level-1, b.e[i].kid)
	if i+1 == b.n || n+a.size(level-1, b.e[i+1].kid) > fan*3/4 {
		i--
		if i < 0 || n+a.size(level-1, b.e[i].kid) > fan*3/4 {
			return false
		}
	}
	to, from := b.e[i].kid, b.e[i+1].kid
	if level == 1 {
		a.leaves.at(from).moveTo(a.leaves.at(to), 0)
	} else {
		a.inners.at(from).moveTo(a.inners.at(to), 0)
	}
	a.drop(level-1, from)
	b.remove(i + 1)
	b.e[i] = a.describe(level-1, to)
	return true
}

// renew makes what a digest says true again after a job was taken out below its block.
func (a *agenda) renew(level int, d *digest, p *planned) {
	c := classOf(int(p.nodes))
	first, turn, short := d.turn == p.turn, d.turns == p.turn, d.times[c] == p.time()
	if !first && !turn && !short {
		return
	}
	if level == 0 {
		*d = a.describe(level, d.kid)
		return
	}
	b := a.inners.at(d.kid)
	d.at, d.turn = b.e[0].at, b.e[0].turn
	if turn {
		d.turns = everybody
	}
	if short {
		d.times[c] = noTime
	}
	for i := range b.n {
		d.turns = min(d.turns, b.e[i].turns)
		d.times[c] = min(d.times[c], b.e[i].times[c])
	}
}

// hunt is a search for the job with the least turn that may move into a stretch.
type hunt struct {
	a    *agenda
	s    *stretch
	turn int32
	id   ID
}

// first returns the first in the order of arrival of those jobs that may move into a stretch
// and have not looked; everybody: there is none.
func (a *agenda) first(s *stretch) (int32, ID) {
	h := hunt{a: a, s: s, turn: s.last}
	h.search(a.top, a.root)
	if h.turn == s.last {
		return everybody, 0
	}
	return h.turn, h.id
}

func (h *hunt) search(level int, id int32) {
	if level == 0 {
		h.scan(h.a.leaves.at(id))
		return
	}
	b := h.a.inners.at(id)
	for i := kidAt(b, h.s.from, everybody); i < b.n; i++ {
		d := &b.e[i]
		if d.turns < h.turn && (d.at <= h.s.to || h.short(d)) {
			h.search(level-1, d.kid)
		}
	}
}

// short reports whether there is a job below that may be short enough.
func (h *hunt) short(d *digest) bool {
	for c := range classOf(h.s.most) + 1 {
		if d.times[c] < h.s.fits[c] {
			return true
		}
	}
	return false
}

func (h *hunt) scan(b *block[planned]) {
	for i := range b.n {
		p := &b.e[i]
		if p.at > h.s.from && p.turn > h.s.seen && p.turn < h.turn && int(p.nodes) <= h.s.most &&
			(p.at <= h.s.to || !h.s.hopeless(int(p.nodes), p.d)) {
			h.turn, h.id = p.turn, p.id
		}
	}
}
