package timeline

// fan is how many entries a block has room for. Small timelines, the usual ones, are
// then a few blocks that are scanned in a row, which is faster than following links.
const fan = 32

// block is a node of the tree: the first n entries count.
type block[E any] struct {
	n    int
	next int32 // among those that are not used
	e    [fan]E
}

func (b *block[E]) insert(i int, e E) {
	copy(b.e[i+1:b.n+1], b.e[i:b.n])
	b.e[i] = e
	b.n++
}

// remove takes out the entries from i until before j.
func (b *block[E]) remove(i, j int) {
	copy(b.e[i:], b.e[j:b.n])
	b.n -= j - i
}

// moveTo appends the entries from i on to another block.
func (b *block[E]) moveTo(to *block[E], i int) {
	to.n += copy(to.e[to.n:], b.e[i:b.n])
	b.n = i
}

// pool is blocks of a kind, known by their index, and those of them that are free.
type pool[E any] struct {
	blocks []block[E]
	free   int32 // the first that is not used; none: there is none
}

// none is the index of no block.
const none int32 = -1

// get returns an empty block. It invalidates pointers to blocks of the pool.
func (p *pool[E]) get() int32 {
	id := p.free
	if id == none {
		p.blocks = append(p.blocks, block[E]{})
		return int32(len(p.blocks) - 1)
	}
	p.free = p.blocks[id].next
	p.blocks[id].n = 0
	return id
}

func (p *pool[E]) put(id int32) {
	p.blocks[id].next = p.free
	p.free = id
}
