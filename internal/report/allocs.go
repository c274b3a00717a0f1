package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/event"
	"berth/internal/job"
)

// Allocation states.
const (
	AllocWaiting = "waiting" // in the queue of the batch system
	AllocRunning = "running"
	AllocOver    = "over"
)

// alloc is what is kept of an allocation.
type alloc struct {
	request   job.AllocRequest
	job       job.ID // whom it was asked for; empty: nobody in particular
	requested job.Time
	began     job.Time // 0: not yet
	ends      job.Time // 0: unknown, or it has no end
	ended     job.Time // 0: not yet
	reason    string   // why it is over
	up        int      // nodes

	// As the driver saw last, while it waits.
	note  string
	start job.Time // 0: unknown
}

func (a *alloc) state() string {
	switch {
	case a.ended != 0:
		return AllocOver
	case a.began != 0:
		return AllocRunning
	default:
		return AllocWaiting
	}
}

// expected returns when a waiting allocation should begin, by the batch system or else
// by the plan; 0: unknown.
func (a *alloc) expected() job.Time {
	if a.start != 0 {
		return a.start
	}
	return a.request.Start
}

// allocOf returns the allocation that a node belongs to.
func allocOf(id job.NodeID) job.AllocID {
	of, _, _ := strings.Cut(string(id), "/")
	return job.AllocID(of)
}

// applyAlloc takes a record of an allocation. The lock is held.
func (n *Nodes) applyAlloc(at job.Time, r event.Record) {
	switch r := r.(type) {
	case event.AllocRequested:
		n.allocs[r.Alloc] = &alloc{request: r.Request, job: r.Job, requested: at}
	case event.AllocBegan:
		if a := n.begin(r.Alloc, at); a != nil {
			a.ends = r.Ends
		}
	case event.AllocEnded:
		if a := n.allocs[r.Alloc]; a != nil {
			a.ended, a.reason, a.up, a.note, a.start = at, r.Reason, 0, "", 0
		}
	}
}

// begin notes that an allocation has begun: the batch system says so, or a worker of it,
// who may be sooner. The lock is held.
func (n *Nodes) begin(id job.AllocID, at job.Time) *alloc {
	a := n.allocs[id]
	if a != nil && a.state() == AllocWaiting {
		a.began, a.note, a.start = at, "", 0
	}
	return a
}

// ApplyNote notes what an allocation waits for, "Slurm: Resources" say, and when it is
// expected to begin (0: unknown), as the batch system says now. Late word of one that
// has begun is dropped.
func (n *Nodes) ApplyNote(id job.AllocID, note string, start job.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a := n.allocs[id]; a != nil && a.state() == AllocWaiting {
		a.note, a.start = note, start
	}
}

// AllocView is an allocation of a batch system that a job has, had or waits for.
type AllocView struct {
	Alloc     string        `json:"alloc"`
	Partition string        `json:"partition,omitempty"`
	State     string        `json:"state"`    // waiting, running, over
	Nodes     int           `json:"nodes"`    // asked for
	Up        int           `json:"nodes_up"` // whose workers answer
	PerNode   job.Resources `json:"per_node"`
	TimeS     float64       `json:"time_s"` // wall time asked for; 0: unlimited

	Requested time.Time `json:"requested"`
	Start     time.Time `json:"expected_start,omitzero"` // while it waits
	Note      string    `json:"note,omitempty"`          // while it waits: for what
	Began     time.Time `json:"began,omitzero"`
	Ends      time.Time `json:"ends,omitzero"` // its wall time
	Ended     time.Time `json:"ended,omitzero"`
	Reason    string    `json:"reason,omitempty"` // why it is over
}

// maxAllocs is how many allocations a view lists.
const maxAllocs = 50

// Waits is what a job waits for in the queue of a batch system.
type Waits struct {
	Nodes int       `json:"nodes"` // of all allocations that have not begun
	Since time.Time `json:"since"` // the first of them was asked for
	ForS  float64   `json:"for_s"` // seconds since then
	Start time.Time `json:"expected_start,omitzero"`
	Note  string    `json:"note,omitempty"` // what the one waits for that should begin first
}

// allocs returns the job's allocations, oldest first: those asked for on its behalf,
// those it ran on, and while it is not over those of other jobs that it may run on.
func (j *Job) allocs() []AllocView {
	n := j.info.Nodes
	used := map[job.AllocID]bool{}
	for id := range j.use {
		used[allocOf(id)] = true
	}
	own := j.work.Alloc
	n.mu.RLock()
	defer n.mu.RUnlock()
	var views []AllocView
	for id, a := range n.allocs {
		q := a.request
		shares := !j.state.Final() && a.ended == 0 && own.Elastic && own.On == q.On && own.Batch.Key() == q.Batch.Key()
		if q.Elastic && (a.job == j.info.ID || used[id] || shares) {
			views = append(views, a.view(id))
		}
	}
	slices.SortFunc(views, func(a, b AllocView) int {
		return cmp.Or(a.Requested.Compare(b.Requested), compareNodes(a.Alloc, b.Alloc))
	})
	return views
}

func (a *alloc) view(id job.AllocID) AllocView {
	v := AllocView{
		Alloc: string(id), Partition: a.request.Batch.Partition, State: a.state(),
		Nodes: a.request.Nodes, Up: a.up, PerNode: a.request.PerNode, TimeS: round(a.request.Time.Seconds()),
		Requested: a.requested.Std(), Began: stamp(a.began), Ends: stamp(a.ends), Ended: stamp(a.ended),
		Note: a.note, Reason: a.reason,
	}
	if v.State == AllocWaiting {
		v.Start = stamp(a.expected())
	}
	return v
}

// waits sums up the allocations that have not begun; nil if there are none. An expected
// start that has passed is no longer told.
func waits(allocs []AllocView, now job.Time) *Waits {
	var w *Waits
	for _, a := range allocs {
		if a.State != AllocWaiting {
			continue
		}
		if w == nil {
			w = &Waits{Since: a.Requested, ForS: round(max(now.Std().Sub(a.Requested).Seconds(), 0)), Note: a.Note}
		}
		w.Nodes += a.Nodes
		if a.Start.After(now.Std()) && (w.Start.IsZero() || a.Start.Before(w.Start)) {
			w.Start, w.Note = a.Start, a.Note
		}
	}
	return w
}

// queueViews fills in what the job has of a batch system, has waited and waits for.
func (j *Job) queueViews(v *JobView, now job.Time) {
	all := j.allocs()
	v.AllocsTotal = len(all)
	if !j.state.Final() && j.state != event.StateStopping {
		v.Waits = waits(all, now)
	}
	v.Allocs = append([]AllocView{}, all[max(len(all)-maxAllocs, 0):]...)
	v.Plans, v.PlansTotal = append([]PlanView{}, j.plans.last...), j.plans.total
	v.Expected = j.info.Expected
	if j.runStarted != 0 {
		wait := round(j.runStarted.Sub(j.runBegan).Seconds())
		v.WaitS = &wait
	}
	if j.state == event.StateDone && j.runStarted != 0 {
		took := round(j.ended.Sub(j.runBegan).Seconds())
		v.TurnaroundS = &took
	}
}

// startsIn returns the seconds until the job's nodes should be there: 0 when some are,
// else by the batch system's word or the plan's; false: not known.
func (j *Job) startsIn(v *JobView, now job.Time) (float64, bool) {
	for _, a := range v.Allocs {
		if a.State == AllocRunning {
			return 0, true
		}
	}
	if v.Waits != nil && !v.Waits.Start.IsZero() {
		return v.Waits.Start.Sub(now.Std()).Seconds(), true
	}
	if e := j.info.Expected; e != nil && j.runStarted == 0 {
		return max(e.Wait-now.Sub(j.runBegan).Seconds(), 0), true
	}
	return 0, false
}
