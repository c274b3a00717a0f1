package batch

// fan is how many entries a block has room for: the usual queue is a block or two.
const fan = 32

// block is a node of an agenda: the first n entries count.
type block[E any] struct {
	n int
	e [fan]E
}

func (b *block[E]) insert(i int, e E) {
	copy(b.e[i+1:b.n+1], b.e[i:b.n])
	b.e[i] = e
	b.n++
}

func (b *block[E]) remove(i int) {
	copy(b.e[i:], b.e[i+1:b.n])
	b.n--
}

// moveTo appends the entries from i on to another block.
func (b *block[E]) moveTo(to *block[E], i int) {
	to.n += copy(to.e[to.n:], b.e[i:b.n])
	b.n = i
}

// pool is blocks, known by their index. Those that were given back are used first.
type pool[E any] struct {
	blocks []block[E]
	unused []int32
}

// at returns a block; the pointer is good until the next get.
func (p *pool[E]) at(id int32) *block[E] { return &p.blocks[id] }

// get returns an empty block.
func (p *pool[E]) get() int32 {
	if n := len(p.unused); n > 0 {
		id := p.unused[n-1]
		p.unused = p.unused[:n-1]
		p.blocks[id].n = 0
		return id
	}
	p.blocks = append(p.blocks, block[E]{})
	return int32(len(p.blocks) - 1)
}

func (p *pool[E]) put(id int32) { p.unused = append(p.unused, id) }

// add inserts an entry into a block, which is split when it is full; it returns the new
// block to its right, -1 for none.
func (p *pool[E]) add(id int32, i int, e E) (right int32) {
	if p.at(id).n < fan {
		p.at(id).insert(i, e)
		return -1
	}
	right = p.get()
	b, r := p.at(id), p.at(right)
	b.moveTo(r, fan/2)
	if i <= fan/2 {
		b.insert(i, e)
	} else {
		r.insert(i-fan/2, e)
	}
	return right
}
