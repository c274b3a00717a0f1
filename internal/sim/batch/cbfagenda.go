package batch

import (
	"math"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
)

// planned is a waiting job as its agenda has it.
type planned struct {
	at    job.Time // when it is to start; cluster.Never: it has no reservation
	d     time.Duration
	turn  int32 // in the order of arrival
	nodes int32
	id    ID
}

// agenda is waiting jobs in the order of their reservations, those of equal starts in the
// order of arrival: a B+-tree, the blocks of which know the least turn and, by class of nodes,
// the shortest time of what is below. Blocks of level 0 are leaves. They are used again:
// nothing is allocated unless the queue is longer than it ever was.
type agenda struct {
	leaves pool[planned]
	inners pool[digest]
	root   int32
	top    int // level of the root
}

// digest is what is known of all the jobs below a block.
type digest struct {
	at    job.Time // the first to start …
	turn  int32    // … and its turn
	kid   int32    // the block
	turns int32    // the least turn
	times [classes]time.Duration
}

// noTime is the time of a class of which there is no job.
const noTime time.Duration = math.MaxInt64

// time is a job's time as digests have it, never that of no job.
func (p *planned) time() time.Duration { return min(p.d, noTime-1) }

// add takes a job in.
func (d *digest) add(p *planned) {
	if p.at < d.at || p.at == d.at && p.turn < d.turn {
		d.at, d.turn = p.at, p.turn
	}
	d.turns = min(d.turns, p.turn)
	c := classOf(int(p.nodes))
	d.times[c] = min(d.times[c], p.time())
}

func newAgenda() agenda {
	a := agenda{}
	a.root = a.leaves.get()
	return a
}

// next returns when the first job is to start, cluster.Never for no job.
func (a *agenda) next() job.Time {
	if a.top > 0 {
		return a.inners.at(a.root).e[0].at
	}
	if b := a.leaves.at(a.root); b.n > 0 {
		return b.e[0].at
	}
	return cluster.Never
}

// pop takes out the job that is to start first.
func (a *agenda) pop() planned {
	id := a.root
	for level := a.top; level > 0; level-- {
		id = a.inners.at(id).e[0].kid
	}
	p := a.leaves.at(id).e[0]
	a.remove(p.at, p.turn)
	return p
}

// insert puts a job in.
func (a *agenda) insert(p planned) {
	right := a.put(a.top, a.root, &p)
	if right < 0 {
		return
	}
	id := a.inners.get()
	b := a.inners.at(id)
	b.n = 2
	b.e[0], b.e[1] = a.describe(a.top, a.root), a.describe(a.top, right)
	a.root, a.top = id, a.top+1
}

// put puts a job in below a block. It returns the block that was split off to its right, -1
// for none.
func (a *agenda) put(level int, id int32, p *planned) (right int32) {
	if level == 0 {
		b := a.leaves.at(id)
		i := b.n
		for i > 0 && (p.at < b.e[i-1].at || p.at == b.e[i-1].at && p.turn < b.e[i-1].turn) {
			i--
		}
		return a.leaves.add(id, i, *p)
	}
	b := a.inners.at(id)
	i := kidAt(b, p.at, p.turn)
	split := a.put(level-1, b.e[i].kid, p)
	b = a.inners.at(id) // the pool may have moved
	if split < 0 {
		b.e[i].add(p)
		return -1
	}
	b.e[i] = a.describe(level-1, b.e[i].kid)
	return a.inners.add(id, i+1, a.describe(level-1, split))
}

// kidAt returns the index of the entry below which a job of that start and turn belongs.
func kidAt(b *block[digest], at job.Time, turn int32) int {
	i := 1
	for i < b.n && (b.e[i].at < at || b.e[i].at == at && b.e[i].turn <= turn) {
		i++
	}
	return i - 1
}

// describe makes the digest of a block that is not empty.
func (a *agenda) describe(level int, id int32) digest {
	d := digest{kid: id, at: cluster.Never, turn: everybody, turns: everybody}
	for c := range d.times {
		d.times[c] = noTime
	}
	if level == 0 {
		b := a.leaves.at(id)
		for i := range b.n {
			d.add(&b.e[i])
		}
		return d
	}
	b := a.inners.at(id)
	d.at, d.turn = b.e[0].at, b.e[0].turn
	for i := range b.n {
		e := &b.e[i]
		d.turns = min(d.turns, e.turns)
		for c := range d.times {
			d.times[c] = min(d.times[c], e.times[c])
		}
	}
	return d
}
