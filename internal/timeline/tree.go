package timeline

import "berth/internal/job"

// change is an entry of a leaf: by so many more nodes are free from then on. It is never 0.
type change struct {
	at job.Time
	by int
}

// branch is an entry of an inner block: what is known of all changes below it.
type branch struct {
	at     job.Time // of the first
	sum    int      // of all
	lo, hi int      // the least and the greatest sum of the first of them, one at least
	kid    int32
}

// tree is a B+-tree of changes, ordered by time. Blocks of level 0 are leaves.
type tree struct {
	leaves pool[change]
	inners pool[branch]
	root   int32
	top    int // level of the root
}

func newTree() tree {
	t := tree{leaves: pool[change]{free: none}, inners: pool[branch]{free: none}}
	t.root = t.leaves.get()
	return t
}

// change adds a change, to the one that is there at that time if there is one.
func (t *tree) change(at job.Time, by int) {
	right := t.put(t.top, t.root, change{at, by})
	if right != none {
		id := t.inners.get()
		root := &t.inners.blocks[id]
		root.insert(0, t.describe(t.top, t.root))
		root.insert(1, t.describe(t.top, right))
		t.root, t.top = id, t.top+1
	}
	t.shrink()
}

// shrink drops roots that have a single block below them.
func (t *tree) shrink() {
	for t.top > 0 && t.inners.blocks[t.root].n <= 1 {
		id := t.root
		if t.inners.blocks[id].n == 1 {
			t.root = t.inners.blocks[id].e[0].kid
		} else {
			t.root = t.leaves.get()
			t.top = 1
		}
		t.inners.put(id)
		t.top--
	}
}

// put adds a change below a block. It returns the block that was split off to its right.
func (t *tree) put(level int, id int32, c change) (right int32) {
	if level == 0 {
		return t.putLeaf(id, c)
	}
	b := &t.inners.blocks[id]
	i := kidAt(b, c.at)
	split := t.put(level-1, b.e[i].kid, c)
	b = &t.inners.blocks[id] // the pool may have moved
	if t.size(level-1, b.e[i].kid) == 0 {
		t.release(level-1, b.e[i].kid)
		b.remove(i, i+1)
		return none
	}
	b.e[i] = t.describe(level-1, b.e[i].kid)
	if split == none {
		t.tidy(level, id, i)
		return none
	}
	return add(&t.inners, id, i+1, t.describe(level-1, split))
}

// kidAt returns the index of the entry below which a change at that time belongs.
func kidAt(b *block[branch], at job.Time) int {
	i := 1
	for i < b.n && b.e[i].at <= at {
		i++
	}
	return i - 1
}

func (t *tree) putLeaf(id int32, c change) (right int32) {
	b := &t.leaves.blocks[id]
	i := 0
	for i < b.n && b.e[i].at < c.at {
		i++
	}
	if i == b.n || b.e[i].at != c.at {
		return add(&t.leaves, id, i, c)
	}
	b.e[i].by += c.by
	if b.e[i].by == 0 {
		b.remove(i, i+1)
	}
	return none
}

// add inserts an entry into a block, which is split when it is full.
func add[E any](p *pool[E], id int32, i int, e E) (right int32) {
	if p.blocks[id].n < fan {
		p.blocks[id].insert(i, e)
		return none
	}
	right = p.get()
	b, r := &p.blocks[id], &p.blocks[right]
	b.moveTo(r, fan/2)
	if i <= fan/2 {
		b.insert(i, e)
	} else {
		r.insert(i-fan/2, e)
	}
	return right
}

func (t *tree) size(level int, id int32) int {
	if level == 0 {
		return t.leaves.blocks[id].n
	}
	return t.inners.blocks[id].n
}

// describe makes the entry for a block that is not empty.
func (t *tree) describe(level int, id int32) branch {
	if level == 0 {
		b := &t.leaves.blocks[id]
		d := branch{at: b.e[0].at, kid: id, lo: b.e[0].by, hi: b.e[0].by}
		for _, c := range b.e[:b.n] {
			d.sum += c.by
			d.lo, d.hi = min(d.lo, d.sum), max(d.hi, d.sum)
		}
		return d
	}
	b := &t.inners.blocks[id]
	d := branch{at: b.e[0].at, kid: id, lo: b.e[0].lo, hi: b.e[0].hi}
	for i := range b.n {
		e := &b.e[i]
		d.lo, d.hi = min(d.lo, d.sum+e.lo), max(d.hi, d.sum+e.hi)
		d.sum += e.sum
	}
	return d
}

// tidy joins a block that has become small with a neighbour that has room, so that of
// two neighbours one at least is a quarter full and the tree stays low.
func (t *tree) tidy(level int, id int32, i int) {
	b := &t.inners.blocks[id]
	n := t.size(level-1, b.e[i].kid)
	if n >= fan/4 {
		return
	}
	if i+1 < b.n && n+t.size(level-1, b.e[i+1].kid) <= fan*3/4 {
		t.join(level-1, b, i)
	} else if i > 0 && n+t.size(level-1, b.e[i-1].kid) <= fan*3/4 {
		t.join(level-1, b, i-1)
	}
}

// join moves what is below entry i+1 to entry i.
func (t *tree) join(level int, b *block[branch], i int) {
	to, from := b.e[i].kid, b.e[i+1].kid
	if level == 0 {
		t.leaves.blocks[from].moveTo(&t.leaves.blocks[to], 0)
		t.leaves.put(from)
	} else {
		border := t.inners.blocks[to].n
		t.inners.blocks[from].moveTo(&t.inners.blocks[to], 0)
		t.inners.put(from)
		t.tidy(level, to, border) // it has a new neighbour
	}
	b.remove(i+1, i+2)
	b.e[i] = t.describe(level, to)
}

// release gives back a block and all below it.
func (t *tree) release(level int, id int32) {
	if level == 0 {
		t.leaves.put(id)
		return
	}
	b := &t.inners.blocks[id]
	for _, e := range b.e[:b.n] {
		t.release(level-1, e.kid)
	}
	t.inners.put(id)
}
