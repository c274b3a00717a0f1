package report_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// held draws what jobs do on allocations that they share, and sums up plainly what the allocations hold.
type held struct {
	entries []event.Entry
	at      job.Time
	nodes   *report.Nodes
	jobs    map[job.ID]*report.Job
	over    map[job.ID]report.CoreHours // of jobs that are over, as their summaries have it
	runs    []job.Attempt
	on      map[job.Attempt]job.NodeID
	tasks   map[job.ID]int
	last    map[job.ID]map[int]int // the last attempt of each task
	lost    []job.Attempt
	paused  [2]bool
	sums    [2]float64
}

const heldCores = 4 // two nodes of two cores

func newHeld() *held {
	h := &held{at: job.Time(time.Hour), jobs: map[job.ID]*report.Job{}, over: map[job.ID]report.CoreHours{}, on: map[job.Attempt]job.NodeID{}, tasks: map[job.ID]int{}, last: map[job.ID]map[int]int{}, nodes: report.NewNodes()}
	for i := range h.sums {
		q := job.AllocRequest{On: "slurm", Elastic: true, Nodes: 2, PerNode: job.Resources{CPUs: 2}, Time: time.Hour}
		h.add(event.AllocRequested{Alloc: allocOf(i), Job: jobOf(0), Request: q})
	}
	for i := range 3 {
		h.jobs[jobOf(i)] = h.fold(jobOf(i))
		h.add(event.JobSubmitted{Work: job.Work{ID: jobOf(i), Kind: job.Bag, Tasks: 500, Terms: job.Terms{MaxFails: -1, Attempts: 100}}})
	}
	for i := range h.sums {
		h.add(event.AllocBegan{Alloc: allocOf(i)})
		for rank := range 2 {
			h.add(event.NodeJoined{Node: allocOf(i).Node(rank), Capacity: job.Resources{CPUs: 2}})
		}
	}
	return h
}

func jobOf(i int) job.ID        { return job.ID(fmt.Sprintf("j-%d", i+1)) }
func allocOf(i int) job.AllocID { return job.AllocID(fmt.Sprintf("a%d", i+1)) }

func (h *held) fold(id job.ID) *report.Job { return report.New(report.Info{ID: id, Nodes: h.nodes}) }

func (h *held) add(r event.Record) {
	e := event.Entry{Seq: uint64(len(h.entries) + 1), At: h.at, Record: r}
	h.entries = append(h.entries, e)
	h.apply(e)
}

func (h *held) apply(e event.Entry) {
	if id := e.Record.Of(); id == "" {
		h.nodes.Apply(e)
	} else if j := h.jobs[id]; j != nil {
		j.Apply(e)
	}
}

func (h *held) wait(t *rapid.T) {
	d := rapid.IntRange(1, 5000).Draw(t, "ms")
	h.at = h.at.Add(time.Duration(d) * time.Millisecond)
	for i := range h.sums {
		if !h.paused[i] {
			h.sums[i] += heldCores * float64(d) / 1000
		}
	}
}

func (h *held) start(t *rapid.T) {
	id := jobOf(rapid.IntRange(0, 2).Draw(t, "job"))
	node := allocOf(rapid.IntRange(0, 1).Draw(t, "alloc")).Node(rapid.IntRange(0, 1).Draw(t, "rank"))
	h.begin(id, node, rapid.Bool().Draw(t, "again"))
}

// begin starts an attempt of a job on a node, if both can have one: of a task that runs already, or comes back, if again is true.
func (h *held) begin(id job.ID, node job.NodeID, again bool) {
	n := 0
	for _, a := range h.runs {
		if h.on[a] == node {
			n++
		}
	}
	if _, over := h.over[id]; over || n == 2 {
		return
	}
	a := job.Attempt{Job: id, Task: h.tasks[id], N: 1}
	for _, o := range h.runs {
		if again && o.Job == id {
			a = job.Attempt{Job: id, Task: o.Task, N: h.last[id][o.Task] + 1}
		}
	}
	for _, o := range h.lost {
		switch {
		case h.on[o] != node:
		case again && o.Job == id && h.last[id][o.Task] == o.N:
			a = o
		default: // what runs there may come back, so nothing else is started there
			return
		}
	}
	h.lost = slices.DeleteFunc(h.lost, func(o job.Attempt) bool { return o.Job == a.Job && o.Task == a.Task })
	if h.last[id] == nil {
		h.last[id] = map[int]int{}
	}
	h.last[id][a.Task] = max(h.last[id][a.Task], a.N)
	h.tasks[id] = max(h.tasks[id], a.Task+1)
	h.runs, h.on[a] = append(h.runs, a), node
	h.add(event.AttemptStarted{Attempt: a, Node: node})
}

func (h *held) end(t *rapid.T) {
	if len(h.runs) > 0 {
		i := rapid.IntRange(0, len(h.runs)-1).Draw(t, "attempt")
		h.stop(i, event.Outcome(rapid.IntRange(int(event.Done), int(event.Outgrown)).Draw(t, "outcome")))
	}
}

func (h *held) stop(i int, o event.Outcome) {
	a := h.runs[i]
	h.runs = slices.Delete(h.runs, i, i+1)
	others := slices.ContainsFunc(h.runs, func(x job.Attempt) bool { return x.Job == a.Job && x.Task == a.Task })
	if o == event.Lost && !others {
		h.lost = append(h.lost, a)
	}
	h.add(event.AttemptEnded{Attempt: a, Outcome: o})
}

func (h *held) pause(t *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(t, "alloc")
	h.paused[i] = !h.paused[i]
	h.add(event.AllocPaused{Alloc: allocOf(i), Paused: h.paused[i]})
}

// finish ends a job, as the coordinator does, or resumes it.
func (h *held) finish(t *rapid.T) {
	id := jobOf(rapid.IntRange(0, 2).Draw(t, "job"))
	if before, over := h.over[id]; over {
		delete(h.over, id)
		if h.jobs[id] == nil || rapid.Bool().Draw(t, "forgotten") {
			h.jobs[id] = h.fold(id)
			for _, e := range h.entries {
				if e.Record.Of() == id {
					h.jobs[id].Apply(e)
				}
			}
		}
		h.add(event.JobResumed{Job: id, Failed: true, Held: before.Sums()})
		return
	}
	for i := len(h.runs) - 1; i >= 0; i-- {
		if h.runs[i].Job == id {
			h.stop(i, event.Killed)
		}
	}
	h.lost = slices.DeleteFunc(h.lost, func(a job.Attempt) bool { return a.Job == id })
	h.add(event.JobEnded{Job: id, State: event.StateFailed})
	h.over[id] = *h.jobs[id].View(h.at).CoreHours
	h.wait(t)
	for _, r := range h.nodes.Used(id) {
		h.add(r)
	}
}

// kill replaces the coordinator by one that replays the journals of jobs that are not over.
func (h *held) kill(*rapid.T) {
	h.nodes, h.jobs = report.NewNodes(), map[job.ID]*report.Job{}
	for i := range 3 {
		if _, over := h.over[jobOf(i)]; !over {
			h.jobs[jobOf(i)] = h.fold(jobOf(i))
		}
	}
	for _, e := range h.entries {
		h.apply(e)
	}
}

// TestCoreHoursAddUp: whatever happens, each core-second that an allocation holds belongs to one job and to one of its parts.
func TestCoreHoursAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHeld()
		moves := []func(*rapid.T){h.wait, h.start, h.start, h.start, h.end, h.end, h.pause, h.finish, h.kill}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			rapid.SampledFrom(moves).Draw(t, "move")(t)
		}
		h.jobs["j-4"] = h.fold("j-4") // what nobody had is that of the job that comes next
		h.add(event.JobSubmitted{Work: job.Work{ID: "j-4", Kind: job.Bag, Tasks: 2, Terms: job.Terms{MaxFails: -1, Attempts: 1}}})
		for i := range h.sums {
			for n := len(h.runs) - 1; n >= 0; n-- {
				if h.on[h.runs[n]] == allocOf(i).Node(0) {
					h.stop(n, event.Done)
				}
			}
			h.paused[i] = false
			h.add(event.AllocPaused{Alloc: allocOf(i)})
			h.add(event.AttemptStarted{Attempt: job.Attempt{Job: "j-4", Task: i, N: 1}, Node: allocOf(i).Node(0)})
		}
		h.wait(t)
		got := h.jobs["j-4"].View(h.at).CoreHours.Held
		for i := range 3 {
			c, over := h.over[jobOf(i)]
			if !over {
				c = *h.jobs[jobOf(i)].View(h.at).CoreHours
			}
			got += c.Held
			if sum := c.Used + c.Running + c.Failed + c.Duplicates + c.Killed + c.Idle; math.Abs(sum-c.Held) > 1e-3 || c.Idle < 0 {
				t.Fatalf("%s holds %+v", jobOf(i), c)
			}
		}
		if want := h.sums[0] + h.sums[1]; math.Abs(got-want) > 1e-3 {
			t.Fatalf("the allocations held %g core-s, the jobs %g", want, got)
		}
	})
}
