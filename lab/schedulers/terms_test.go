package schedulers

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// TestUsualTerms: with the usual weights a start is worth what it is worth in berth's scheduler, and without those of speed it is worth as much
// on slow cores.
func TestUsualTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(most int64, what string) int64 { return rapid.Int64Range(0, most).Draw(t, what) }
		p := sched.Phases.Pool(sched.Shortest, true, sched.AgeingShare)
		j := &sched.Job{Weight: float64(1 + amount(3, "weight"))}
		j.By = []*sched.Tasks{sched.NewTasks(j, job.BagTask)}
		for i, kind := range []string{"fast", "slow"} {
			n := &sched.Node{Index: i + 1, Alloc: &sched.Alloc{}, Kind: p.Speeds.Kind(kind), Capacity: job.Vector{CPU: 4000, Memory: 1 << 30, Disk: 100e6}}
			n.Used = job.Vector{CPU: amount(4000, "cores"), Memory: amount(1<<30, "memory"), Disk: amount(100e6, "disk")}
			p.Nodes, p.Unit = append(p.Nodes, n), n.Capacity
		}
		for _, n := range p.Nodes {
			p.Learn(n, j, []job.PhaseStat{{Phase: job.PhaseCompute, CPU: time.Duration(n.Index*n.Index) * time.Second, BytesIn: 1}})
		}
		p.Enter(j)
		j.By[0].Left.Tasks = int(amount(20, "tasks"))
		p.Cores = int(1 + amount(50, "of the pool"))
		p.Rerank(j)
		c := &j.By[0].Begin
		c.Demand = job.Vector{CPU: amount(4000, "takes"), Memory: amount(1<<30, "of memory"), Disk: amount(100e6, "of disk")}
		before := int(amount(9, "before"))
		usual, level := UsualTerms, UsualTerms
		level.Speed, level.Chain, level.Align = 0, 0, 0
		same, flat := PhasesBy(usual, 1).Pool(sched.Shortest, true, 1), PhasesBy(level, 1).Pool(sched.Shortest, true, 1)
		for _, n := range p.Nodes {
			if got, want := same.Worth(&p, n, c, before), p.Worth(&p, n, c, before); got != want {
				t.Fatalf("on node %d it is worth %v, in berth's scheduler %v", n.Index, got, want)
			}
		}
		if a, b := flat.Worth(&p, p.Nodes[0], c, before), flat.Worth(&p, p.Nodes[1], c, before); a != b {
			t.Fatalf("the term of speed cannot be left out: %v, %v", a, b)
		}
	})
}
