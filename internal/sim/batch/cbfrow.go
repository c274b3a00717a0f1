package batch

import (
	"math"
	"slices"
	"time"

	"berth/internal/job"
)

// row is waiting jobs in the order of arrival, side by side. Those that have gone leave gaps
// until there are more gaps than jobs.
type row struct {
	waits  []wait
	places []int32 // by ID; of those that wait
	gaps   int
}

// wait is a waiting job. That of a gap is to start at vacant.
type wait struct {
	at    job.Time // its reservation; cluster.Never: it has none
	d     time.Duration
	nodes int32
	id    ID
}

const vacant job.Time = math.MinInt64

func (r *row) push(w wait) {
	if n := int(w.id) + 1; n > len(r.places) {
		r.places = slices.Grow(r.places, n-len(r.places))[:n]
	}
	if len(r.waits) == cap(r.waits) && r.gaps > len(r.waits)/2 {
		r.close()
	}
	r.places[w.id] = int32(len(r.waits))
	r.waits = append(r.waits, w)
}

// close moves the jobs together.
func (r *row) close() {
	r.waits = slices.DeleteFunc(r.waits, func(w wait) bool { return w.at == vacant })
	r.gaps = 0
	for i := range r.waits {
		r.places[r.waits[i].id] = int32(i)
	}
}

// of returns a job.
func (r *row) of(id ID) *wait { return &r.waits[r.places[id]] }

// take takes a job out.
func (r *row) take(id ID) wait {
	w := *r.of(id)
	r.of(id).at = vacant
	r.gaps++
	if r.gaps == len(r.waits) {
		r.waits, r.gaps = r.waits[:0], 0
	}
	return w
}
