package plan

import (
	"math/rand/v2"
	"testing"

	"berth/internal/core/job"
)

// A job over input folders without files has no maps. It can be planned like any other, on
// a batch system and on one machine, with a profile and without.
func TestNoMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, reduces := range []int{0, 2} {
		for _, known := range []bool{false, true} {
			for _, busy := range []int{0, 20} {
				spec := job.New(job.MapReduce, "/home/u")
				m := spec.MapReduce
				m.Inputs, m.Output, m.Reduces = []string{"/home/u/in"}, "/home/u/out", reduces
				m.Mapper = job.Program{Args: []string{"cat"}}
				if reduces > 0 {
					m.Reducer = &job.Program{Args: []string{"cat"}}
				}
				spec.Normalize()
				q := Question{Now: begin, Spec: spec, Snap: busyCluster(8, busy, rng)}
				if known {
					q.Profile = mixProfile(spec, rng)
				}
				p, err := Decide(q)
				if err != nil || p.Reduces != reduces || p.Alloc.Nodes < 1 && reduces > 0 {
					t.Errorf("%d reduces, profile %v, %d jobs in the queue: %+v, %v", reduces, known, busy, p, err)
				}
			}
		}
	}
}
