package timeline

import "berth/internal/job"

// drop removes the changes up to and at an instant and returns their sum.
func (t *tree) drop(now job.Time) int {
	sum := t.dropBelow(t.top, t.root, now)
	t.shrink()
	return sum
}

func (t *tree) dropBelow(level int, id int32, now job.Time) (sum int) {
	if level == 0 {
		b := &t.leaves.blocks[id]
		i := 0
		for i < b.n && b.e[i].at <= now {
			sum += b.e[i].by
			i++
		}
		if i > 0 {
			b.remove(0, i)
		}
		return sum
	}
	b := &t.inners.blocks[id]
	if b.e[0].at > now {
		return 0
	}
	i := kidAt(b, now)
	for _, e := range b.e[:i] {
		sum += e.sum
		t.release(level-1, e.kid)
	}
	b.remove(0, i)
	sum += t.dropBelow(level-1, b.e[0].kid, now)
	if t.size(level-1, b.e[0].kid) == 0 {
		t.release(level-1, b.e[0].kid)
		b.remove(0, 1)
		return sum
	}
	b.e[0] = t.describe(level-1, b.e[0].kid)
	t.tidy(level, id, 0)
	return sum
}
