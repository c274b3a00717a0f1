package batch

// heap is a min-heap of keys and the items that they belong to. Each entry has four children, which
// makes the heap flatter than a binary one, and the four are adjacent in memory.
type heap[K ~int32 | ~int64] []item[K]

type item[K ~int32 | ~int64] struct {
	key K
	of  int32
}

// before orders equal keys by item, so that the order of insertion does not matter.
func (a item[K]) before(b item[K]) bool { return a.key < b.key || a.key == b.key && a.of < b.of }

func (h *heap[K]) push(key K, of int32) {
	*h = append(*h, item[K]{})
	q, i, x := *h, len(*h)-1, item[K]{key, of}
	for i > 0 && x.before(q[(i-1)/4]) {
		q[i] = q[(i-1)/4]
		i = (i - 1) / 4
	}
	q[i] = x
}

// pop removes the top and returns its item.
func (h *heap[K]) pop() int32 {
	q := *h
	top, x := q[0].of, q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(q) {
			break
		}
		least := first
		for k := first + 1; k < min(first+4, len(q)); k++ {
			if q[k].before(q[least]) {
				least = k
			}
		}
		if !q[least].before(x) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = x
	return top
}
