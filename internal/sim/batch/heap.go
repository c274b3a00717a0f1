package batch

// heap is numbers and what they are of, the least at the top. Each has four below it, which
// is flatter than two, and the four lie side by side.
type heap[K ~int32 | ~int64] []item[K]

type item[K ~int32 | ~int64] struct {
	key K
	of  int32
}

// before orders equal keys, too, so that the order in which they were put in plays no part.
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

// pop takes out the top.
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
