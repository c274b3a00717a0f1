package batch

import "berth/internal/job"

// due is a job and when something becomes of it.
type due struct {
	at job.Time
	id ID
}

func (d due) before(o due) bool { return d.at < o.at || d.at == o.at && d.id < o.id }

// ends is running jobs and when they end, a heap in which each has four below it: flatter
// than with two, and the four lie side by side.
type ends []due

func (h *ends) push(at job.Time, id ID) {
	*h = append(*h, due{})
	q, i, d := *h, len(*h)-1, due{at, id}
	for i > 0 && d.before(q[(i-1)/4]) {
		q[i] = q[(i-1)/4]
		i = (i - 1) / 4
	}
	q[i] = d
}

// pop takes out the first: the one that ends soonest, of these the least ID.
func (h *ends) pop() ID {
	q := *h
	first, d := q[0].id, q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	for i := 0; len(q) > 0; {
		least := i
		for k := 4*i + 1; k <= 4*i+4 && k < len(q); k++ {
			if least == i && q[k].before(d) || least != i && q[k].before(q[least]) {
				least = k
			}
		}
		if least == i {
			q[i] = d
			break
		}
		q[i] = q[least]
		i = least
	}
	return first
}
