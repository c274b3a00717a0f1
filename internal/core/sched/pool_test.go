package sched

import (
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestPoolLines compares the lines of a pool with their definition: each candidate is in the group of its
// needs, no group is empty, and the first of a group is before the others.
func TestPoolLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Cores.Pool(Shortest, false, 1)
		jobs := make([]Job, rapid.IntRange(1, 8).Draw(t, "jobs"))
		waits := make(map[*Candidate]bool)
		for range rapid.IntRange(0, 60).Draw(t, "moves") {
			i := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
			j := &jobs[i]
			if j.By == nil {
				j.By = []*Tasks{NewTasks(j, job.BagTask)}
			}
			c := &j.By[0].Begin
			j.Order = uint64(i)
			switch rapid.IntRange(0, 3).Draw(t, "move") {
			case 0:
				c.Demand.CPU = rapid.Int64Range(1, 3).Draw(t, "cpus")
				p.Put(c)
				waits[c] = true
			case 1:
				if p.Remove(c) != waits[c] {
					t.Fatal("a candidate was not where it belongs")
				}
				delete(waits, c)
			case 2:
				j.By[0].Left.Tasks = rapid.IntRange(0, 5).Draw(t, "left")
				p.Rerank(j)
			default:
				p.Scale = rapid.IntRange(1, 4).Draw(t, "cores")
				for k := range jobs {
					jobs[k].Rank = p.Rank(&jobs[k])
				}
				p.Reorder()
			}
			count := 0
			for _, group := range p.Groups {
				count += len(group.line)
				for pos, d := range group.line {
					if d.group != group || d.Needs != group.Needs || d.pos != pos || d.Job.Before(group.line[0].Job.Priority) {
						t.Fatalf("%+v is in the wrong place of %+v", d.Needs, group.Needs)
					}
				}
				if len(group.line) == 0 {
					t.Fatal("a group is empty")
				}
			}
			if count != len(waits) {
				t.Fatalf("%d candidates wait, want %d", count, len(waits))
			}
		}
	})
}
