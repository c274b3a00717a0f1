package sched

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestUrgentFirst: with every scheduler, order and weight, no task starts while an urgent one of any job could. The first in the line of
// the jobs that finds no room has its node reserved, whatever urgent tasks of later jobs wait; and all that fit start, whoever ends when.
func TestUrgentFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
		s, order := rapid.SampledFrom(Schedulers()).Draw(t, "scheduler"), rapid.SampledFrom([]Order{Shortest, FIFO}).Draw(t, "order")
		w := &againWorld{Pool: s.Pool(order, false, 1)}
		w.Scale = 4
		now := job.Time(time.Hour)
		for i := range 1 + draw(4, "nodes") {
			n := &Node{Index: i + 1, Host: fmt.Sprint("n", i), Up: true, Alloc: &Alloc{}, Capacity: job.Vector{CPU: int64(1+draw(3, "cores")) * job.Milli}}
			if draw(3, "slow") == 0 {
				n.Health.Slow(now, Trust{For: time.Minute})
			}
			w.Unit = w.Unit.Max(n.Capacity)
			w.Nodes = append(w.Nodes, n)
			w.Free(n)
		}
		enqueue := func(j *Job) {
			w.Rerank(j)
			j.By[0].Urgent.Alone = j.Order
			for _, c := range []*Candidate{&j.By[0].Begin, &j.By[0].Urgent} {
				if c.Ready.Count() > 0 {
					w.Put(c)
				} else {
					w.Remove(c)
				}
			}
		}
		for i := range 1 + draw(4, "jobs") {
			j := &Job{ID: job.ID(fmt.Sprint("j", i)), Priority: Priority{Order: uint64(i + 1)}, Weight: float64(1 + draw(2, "weight"))}
			tasks := NewTasks(j, rapid.SampledFrom([]job.TaskKind{job.BagTask, job.MapTask}).Draw(t, "kind"))
			j.By = []*Tasks{tasks}
			tasks.Set(&w.Pool, job.Resources{CPUs: 1 + draw(2, "needs")}, job.Gang{}, false)
			tasks.Begin.Ready.Extend(0, int32(draw(6, "tasks")-1))
			w.Enter(j)
			w.jobs = append(w.jobs, j)
			enqueue(j)
		}
		for range draw(12, "steps") {
			if j := w.jobs[draw(len(w.jobs), "of")]; draw(2, "urgent") == 0 {
				j.By[0].Urgent.Ready.AddUrgent(int32(100+draw(9, "task")), int32(1+draw(len(w.Nodes), "avoid")), 0, 0, draw(2, "duplicate") == 0)
				enqueue(j)
			} else if len(w.live) > 0 {
				i := draw(len(w.live), "ends")
				a := w.live[i]
				w.live = slices.Delete(w.live, i, i+1)
				w.Vacate(a.node, a.Running, time.Minute)
				w.Free(a.node)
				enqueue(a.Job)
			}
			for d := range w.all(now) {
				c := d.Candidate
				for _, g := range w.Groups {
					if i := slices.IndexFunc(w.Nodes, func(n *Node) bool { return g.Urgent && n.kept == 0 && w.admits(g, n) && g.starts(&w.Pool, n, now) }); i >= 0 && !c.Urgent {
						t.Fatalf("%s starts task %d of %s, and an urgent one of %s could start on %s", s.Name, d.Task, c.Job.ID, g.line[0].Job.ID, w.Nodes[i].Host)
					}
				}
				c.Ready.Take(int32(d.Task))
				a := &Running{ID: job.Attempt{Job: c.Job.ID, Task: d.Task}, Job: c.Job, Of: c.Job.By[0], Kind: c.Kind, Through: c.Through, Holds: c.Demand}
				w.live = append(w.live, againRun{a, d.Node})
				w.Occupy(d.Node, a)
				enqueue(c.Job)
			}
			if len(w.Groups) < 2 || !w.strict || w.shared() {
				continue // no node needs to be reserved, or the last start has changed the line
			}
			first := slices.MinFunc(w.Groups, func(g, o *Group) int {
				if w.inLine(g.line[0], o.line[0]) {
					return -1
				}
				return 1
			})
			if slices.ContainsFunc(w.Nodes, func(n *Node) bool { return w.canHold(first, n, now) }) && w.heldFor != first {
				t.Fatalf("%s: no node is reserved for %s, the first in line", s.Name, first.line[0].Job.ID)
			}
		}
	})
}
