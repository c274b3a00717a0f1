package report

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Allocation states.
const (
	AllocWaiting = "waiting" // in the queue of the batch system
	AllocRunning = "running"
	AllocOver    = "over"
)

// alloc is an allocation: its view, and the data by which jobs are assigned to it.
type alloc struct {
	AllocView
	holding
	request job.AllocRequest
	job     job.ID   // the job for which it was requested; empty: for no particular job
	ended   job.Time // 0: not yet
}

// begin marks an allocation as running. The batch system reports this, or one of its workers, which may be
// sooner. The caller holds the lock.
func (n *Nodes) begin(id job.AllocID, at job.Time) *alloc {
	a := n.allocs[id]
	if a != nil && a.State == AllocWaiting {
		a.leaveQueue(AllocRunning)
		a.Began = stamp(at)
		if a.request.Elastic {
			a.hold(at, a.request.Nodes*a.request.PerNode.CPUs)
		}
	}
	return a
}

// leaveQueue marks an allocation as no longer waiting.
func (a *alloc) leaveQueue(state string) {
	a.State, a.Note, a.Start = state, "", time.Time{}
}

// FirstOf returns the job for which an allocation was requested, when that was, and how long it waited. Without a job it has not begun, or is not the
// first of those that have begun for its job.
func (n *Nodes) FirstOf(id job.AllocID) (of job.ID, requested job.Time, wait time.Duration) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	a := n.allocs[id]
	if a == nil || a.Began.IsZero() {
		return "", 0, 0
	}
	for other, x := range n.allocs {
		if other != id && x.job == a.job && !x.Began.IsZero() {
			return "", 0, 0
		}
	}
	return a.job, a.asked, a.Began.Sub(a.Requested)
}

// ApplyNote sets what an allocation waits for, for instance "Slurm: Resources", and when the batch system
// expects it to start (0: unknown). Of one that has started, the note says that it is suspended, or what it has said while no node is up.
func (n *Nodes) ApplyNote(id job.AllocID, note string, start job.Time, suspended bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.allocs[id]
	if a == nil || a.State == AllocOver || a.State == AllocRunning && a.Up > 0 && note != "" && !suspended {
		return // what it waited for came late
	}
	if a.Note = note; a.State == AllocWaiting {
		a.Start = stamp(cmp.Or(start, a.request.Start)) // the start that the batch system expects, or else the plan
	}
}

// AllocView is an allocation of a batch system that a job has, had or waits for.
type AllocView struct {
	Alloc     string        `json:"alloc"` // `a3`
	Partition string        `json:"partition,omitempty"`
	State     string        `json:"state"`    // `waiting` (in the queue), `running`, `over`
	Nodes     int           `json:"nodes"`    // number of nodes that were requested
	Up        int           `json:"nodes_up"` // number of nodes whose workers answer
	PerNode   job.Resources `json:"per_node"` // what each node has
	TimeS     float64       `json:"time_s"`   // requested wall time in seconds; 0: unlimited

	Requested time.Time `json:"requested"`
	Start     time.Time `json:"expected_start,omitzero"` // while it waits
	Note      string    `json:"note,omitempty"`          // what it waits for, as the batch system says, or why its nodes do not work
	Began     time.Time `json:"began,omitzero"`
	Ends      time.Time `json:"ends,omitzero"` // when its wall time is over
	Ended     time.Time `json:"ended,omitzero"`
	Reason    string    `json:"reason,omitempty"` // why it is over
}

// works reports whether a node of the allocation is up.
func (a AllocView) works() bool { return a.Up > 0 }

// maxAllocs is the number of allocations in a view.
const maxAllocs = 50

// Waits is what a job waits for in the queue of a batch system.
type Waits struct {
	Nodes int       `json:"nodes"`                   // nodes of all its allocations that have not begun, and if no node is up, of those that have
	Since time.Time `json:"since"`                   // when the first of them was requested
	ForS  float64   `json:"for_s"`                   // seconds since then
	Start time.Time `json:"expected_start,omitzero"` // when the first of them is expected to begin
	Note  string    `json:"note,omitempty"`          // what the first of them waits for, or that it has begun
}

// allocs returns the job's allocations, the oldest first: those requested for it, those on which it ran, and, as
// long as it is not over, those of other jobs on which it may run.
func (j *Job) allocs() []AllocView {
	n := j.info.Nodes
	used := map[job.AllocID]bool{}
	for id := range j.use {
		used[id.Alloc()] = true
	}
	own := j.work.Alloc
	n.mu.RLock()
	defer n.mu.RUnlock()
	var views []AllocView
	for id, a := range n.allocs {
		q := a.request
		shares := !j.state.Final() && a.ended == 0 && own.Elastic && own.On == q.On && own.Batch.Key() == q.Batch.Key()
		if q.Elastic && (a.job == j.info.ID || used[id] || shares) {
			views = append(views, a.AllocView)
		}
	}
	slices.SortFunc(views, func(a, b AllocView) int {
		return cmp.Or(a.Requested.Compare(b.Requested), compareNodes(a.Alloc, b.Alloc))
	})
	return views
}

// notReady is the note on an allocation that has begun and of which no node is up.
const notReady = "begun, and none of its nodes is ready yet"

// waits sums up the allocations that have not begun, and if no node is up also those that have, or returns nil if there are none. An
// expected start that has passed is omitted.
func waits(allocs []AllocView, now job.Time) *Waits {
	var w *Waits
	works := slices.ContainsFunc(allocs, AllocView.works)
	for _, a := range allocs {
		switch {
		case a.State == AllocOver || a.State == AllocRunning && works:
			continue
		case a.State == AllocRunning:
			if a.Note != "" {
				a.Note = ": " + a.Note
			}
			a.Note = notReady + a.Note
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

// queueViews fills in the job's allocations, its wait, and what it waits for in the queue.
func (j *Job) queueViews(v *JobView, now job.Time) {
	all := j.allocs()
	v.AllocsTotal, v.Partition = len(all), j.partition(all)
	if !j.state.Final() && j.state != event.StateStopping {
		v.Waits = waits(all, now)
	}
	v.Allocs = append([]AllocView{}, all[max(len(all)-maxAllocs, 0):]...)
	v.Plans, v.PlansTotal = append([]PlanView{}, j.plans.last...), j.plans.total
	v.Expected, v.PredictedStart = j.info.Expected, j.info.Start
	if j.runStarted != 0 {
		v.WaitS = new(round(j.runStarted.Sub(j.runBegan).Seconds()))
	}
	if j.state == event.StateDone && j.runStarted != 0 {
		v.TurnaroundS = new(round(j.ended.Sub(j.runBegan).Seconds()))
		for i, p := range v.Plans {
			if !p.At.Before(j.runBegan.Std()) { // those of earlier runs did not come to an end
				v.Plans[i].ActualS = new(round(j.ended.Std().Sub(p.At).Seconds()))
			}
		}
	}
}

// startsIn returns the seconds until the job's first nodes are expected to start: 0 if some have started, else
// as the batch system or the plan says. It returns false if that is unknown, as when a job that ran before waits for nodes to get ready.
func (j *Job) startsIn(v *JobView, now job.Time) (float64, bool) {
	for _, a := range v.Allocs {
		if a.State == AllocRunning {
			return 0, a.Up > 0 || j.runStarted == 0
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
