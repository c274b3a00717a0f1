package sched

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestAgainElsewhere runs bags whose tasks fail on random nodes, in random order, with other jobs of equal and of other needs beside them. A task never
// starts on a node on which it has failed while another one could run it, even a full one; no node with room stays free while a task
// could start there; and all tasks end.
func TestAgainElsewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
		w := &againWorld{Pool: Cores.Pool(Order(rapid.SampledFrom([]Order{Shortest, ""}).Draw(t, "order")), false, 1), draw: draw, failed: map[job.Attempt][]int32{}}
		for i := range 1 + draw(4, "nodes") {
			n := &Node{Index: i + 1, Host: fmt.Sprint("n", i), Up: true, Alloc: &Alloc{}, Capacity: job.Vector{CPU: int64(1+draw(3, "cores")) * job.Milli}}
			w.Nodes = append(w.Nodes, n)
			w.Free(n)
		}
		w.Scale = 4
		left := 0
		for i := range 1 + draw(3, "jobs") {
			j := &Job{ID: job.ID(fmt.Sprint("j", i)), Priority: Priority{Order: uint64(i + 1)}, Weight: 1}
			tasks := NewTasks(j, job.BagTask)
			j.By = []*Tasks{tasks}
			tasks.Set(&w.Pool, job.Resources{CPUs: 1 + draw(2, "needs")}, job.Gang{}, false)
			if n := 1 + draw(6, "tasks"); slices.ContainsFunc(w.Nodes, func(n *Node) bool { return fitsFree(tasks.Begin.Peak, n.Capacity) }) {
				tasks.Begin.Ready.Extend(0, int32(n-1))
				left += n
			}
			w.Enter(j)
			w.jobs = append(w.jobs, j)
			w.enqueue(j)
		}
		for left > 0 {
			w.run(t)
			if len(w.live) == 0 {
				t.Fatalf("nothing runs, and %d tasks are left", left)
			}
			i := draw(len(w.live), "ends")
			a := w.live[i]
			w.live = slices.Delete(w.live, i, i+1)
			w.Vacate(a.node, a.Running, 0)
			w.Free(a.node)
			task := job.Attempt{Job: a.ID.Job, Task: a.ID.Task}
			if bad := w.failed[task]; len(bad) < 4 && draw(2, "fails") == 0 {
				w.failed[task] = append(slices.Clip(bad), int32(a.node.Index))
				a.Of.Begin.Ready.Retry(int32(a.ID.Task), int32(a.node.Index), false, w.failed[task])
			} else {
				left--
			}
			w.enqueue(a.Job)
		}
	})
}

type againWorld struct {
	Pool
	jobs   []*Job
	live   []againRun
	failed map[job.Attempt][]int32
	draw   func(n int, what string) int
}

type againRun struct {
	*Running
	node *Node
}

// enqueue updates the candidate of a job as the engine does.
func (w *againWorld) enqueue(j *Job) {
	c := &j.By[0].Begin
	w.Rerank(j)
	if c.Alone = 0; c.Ready.Choosy() {
		c.Alone = j.Order
	}
	if c.Ready.Count() > 0 {
		w.Put(c)
	} else {
		w.Remove(c)
	}
}

// mayRun says by the definition whether a task of a job may run on a node.
func (w *againWorld) mayRun(c *Candidate, task int, n *Node) bool {
	bad := w.failed[job.Attempt{Job: c.Job.ID, Task: task}]
	return fitsFree(c.Demand, n.Free()) && (!slices.Contains(bad, int32(n.Index)) ||
		!slices.ContainsFunc(w.Nodes, func(m *Node) bool { return !slices.Contains(bad, int32(m.Index)) && fitsFree(c.Peak, m.Capacity) }))
}

// run starts what the policy decides.
func (w *againWorld) run(t *rapid.T) {
	for d := range w.all(0) {
		c := d.Candidate
		if !w.mayRun(c, d.Task, d.Node) {
			t.Fatalf("task %d of %s starts on %s, it has failed on %v", d.Task, c.Job.ID, d.Node.Host, w.failed[job.Attempt{Job: c.Job.ID, Task: d.Task}])
		}
		c.Ready.Take(int32(d.Task))
		r := &Running{ID: job.Attempt{Job: c.Job.ID, Task: d.Task}, Job: c.Job, Of: c.Job.By[0], Kind: c.Kind, Through: c.Through, Holds: c.Demand}
		w.live = append(w.live, againRun{r, d.Node})
		w.Occupy(d.Node, r)
		w.enqueue(c.Job)
	}
	if w.held != nil {
		return // a node is reserved for a large task
	}
	for _, j := range w.jobs {
		c := &j.By[0].Begin
		for _, n := range w.Nodes {
			for i := range c.Ready.retry {
				if task := int(c.Ready.retry[i].task); w.mayRun(c, task, n) {
					t.Fatalf("task %d of %s could start again on %s", task, j.ID, n.Host)
				}
			}
			if c.Ready.count > 0 && fitsFree(c.Demand, n.Free()) {
				t.Fatalf("a task of %s that never started could start on %s", j.ID, n.Host)
			}
		}
	}
}

// all returns decisions until none is left, also where a node that was reserved is open to others again.
func (w *againWorld) all(now job.Time) iter.Seq[Decision] {
	return func(carryOut func(Decision) bool) {
		for again := true; again; again = w.Freed() {
			for d := range w.Decisions(now) {
				if !carryOut(d) {
					return
				}
			}
		}
	}
}
