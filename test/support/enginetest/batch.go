package enginetest

import (
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// batchLedger is the part of a ledger that concerns elastic allocations.
type batchLedger struct {
	elastic map[job.AllocID]bool     // all that were ever requested
	ends    map[job.AllocID]job.Time // ends of those that have begun; 0: never
	ended   map[job.AllocID]bool
	clear   map[job.AllocID]bool       // those for which Clear was emitted
	cleared map[job.AllocID]bool       // those that are surely cleared
	shared  map[job.NodeID]bool        // nodes whose outputs are on the shared file system
	where   map[taskID]job.NodeID      // the node that did the task
	at      map[job.Attempt]job.NodeID // the node that it ran on
	began   map[job.Attempt]job.Time
	seen    map[job.Attempt]bool
	kinds   map[kindID]*took
}

// kindID identifies the tasks of one kind of a job, for what plans expect, or those with the same needs, for what was measured.
type kindID struct {
	job     job.ID
	reduces bool
	needs   uint16
}

// took is the times of the tasks of a kind.
type took struct {
	least time.Duration
	n     int
	hint  time.Duration
	most  time.Duration // see event.JobPlanned
}

func newBatchLedger() batchLedger {
	return batchLedger{
		elastic: make(map[job.AllocID]bool), ends: make(map[job.AllocID]job.Time), ended: make(map[job.AllocID]bool),
		clear: make(map[job.AllocID]bool), cleared: make(map[job.AllocID]bool), shared: make(map[job.NodeID]bool),
		where: make(map[taskID]job.NodeID), at: make(map[job.Attempt]job.NodeID), began: make(map[job.Attempt]job.Time),
		seen: make(map[job.Attempt]bool), kinds: make(map[kindID]*took),
	}
}

func allocOf(n job.NodeID) job.AllocID {
	id, _, _ := strings.Cut(string(n), "/")
	return job.AllocID(id)
}

func (l *Ledger) applyBatch(e event.Entry) {
	b := &l.batch
	switch r := e.Record.(type) {
	case event.AllocRequested:
		b.elastic[r.Alloc] = r.Request.Elastic
		if r.Request.Elastic == (r.Job == "") || r.Request.Nodes < 1 {
			l.fail("%s of %d nodes is asked for on behalf of %q", r.Alloc, r.Request.Nodes, r.Job)
		}
	case event.AllocBegan:
		b.ends[r.Alloc] = r.Ends
	case event.AllocEnded:
		b.ended[r.Alloc] = true
	case event.AllocCleared:
		b.cleared[r.Alloc], b.clear[r.Alloc] = true, true
	case event.NodeJoined:
		b.shared[r.Node] = r.Outputs != ""
	case event.JobSubmitted:
		l.hint(r.Work.ID, r.Work.TaskTimes, append(r.Work.More, r.Work.Alloc))
	case event.JobResumed:
		l.hint(r.Job, r.TaskTimes, append(r.More, r.Alloc))
	case event.JobPlanned:
		l.hint(r.Job, r.TaskTimes, nil)
		l.took(kindID{r.Job, false, 0}).most, l.took(kindID{r.Job, true, 0}).most = r.Most, r.Most
	case event.AttemptStarted:
		l.startedIn(e.At, r)
	case event.PhaseGranted:
		if a, ok := l.live[r.Attempt]; ok && a.through == job.PhaseShuffle { // other reduces have part of their resources
			b.began[r.Attempt] = e.At
			l.inTime(e.At, r.Attempt)
		}
	case event.AttemptEnded:
		l.endedIn(e.At, r)
	case event.OutputHeld:
		b.where[taskID{r.Attempt.Job, r.Attempt.Task}] = r.Node
	case event.OutputLost:
		l.lost(r)
	}
}

// kind returns what plans expect of tasks of the kind of this one, and the times of those with its needs.
func (l *Ledger) kind(id job.ID, task int) (planned, measured *took) {
	w := l.works[id]
	k := kindID{job: id, reduces: w.Kind == job.MapReduce && task >= w.Tasks}
	planned = l.took(k)
	k.needs = l.needs[taskID{id, task}]
	return planned, l.took(k)
}

func (l *Ledger) took(k kindID) *took {
	if l.batch.kinds[k] == nil {
		l.batch.kinds[k] = &took{}
	}
	return l.batch.kinds[k]
}

// hint adds the task times that a plan expects, unless it requests too little time for them itself.
func (l *Ledger) hint(id job.ID, times job.TaskTimes, rs []job.AllocRequest) {
	for i, d := range times.Upper() {
		k := l.took(kindID{id, i == 1, 0})
		if rs == nil && d == 0 {
			continue
		}
		k.hint, k.most = d, 0
		for _, r := range rs {
			if k.hint = 0; r.Time == 0 || r.Time >= sched.Span(d) {
				k.hint = d
				break
			}
		}
	}
}

func (l *Ledger) startedIn(at job.Time, r event.AttemptStarted) {
	b := &l.batch
	b.at[r.Attempt] = r.Node
	b.began[r.Attempt] = at
	if !b.seen[r.Attempt] { // otherwise it was given up as lost, and still runs
		b.seen[r.Attempt] = true
		l.inTime(at, r.Attempt)
	}
}

// inTime checks that an attempt that starts could end before its allocation does. It uses the minimum of the
// measured times, which is a lower bound of the usual time.
func (l *Ledger) inTime(at job.Time, id job.Attempt) {
	node := l.batch.at[id]
	ends := l.batch.ends[allocOf(node)]
	if ends == 0 || l.torn {
		return
	}
	k, measured := l.kind(id.Job, id.Task)
	expected := k.hint
	if measured.n >= 5 {
		expected = measured.least
	}
	if k.most > 0 { // no longer allocation is possible
		expected = min(expected, k.most/2)
	}
	if l.works[id.Job].Requeues { // it need not end there
		expected = 0
	}
	if at >= ends || at.Add(expected) > ends {
		l.fail("%v begins at %v on %s and is expected to take %v, but its allocation ends at %v",
			id, time.Duration(at), node, expected, time.Duration(ends))
	}
}

func (l *Ledger) endedIn(at job.Time, r event.AttemptEnded) {
	b, k := &l.batch, taskID{r.Attempt.Job, r.Attempt.Task}
	if r.Outcome == event.Done {
		b.where[k] = b.at[r.Attempt]
	}
	if a, ok := l.live[r.Attempt]; !ok || !b.elastic[allocOf(a.node)] {
		return
	}
	if ends := b.ends[allocOf(b.at[r.Attempt])]; ends != 0 && at >= ends && r.Outcome == event.Failed && r.Signal != 0 {
		l.fail("%v counts as failed, though its allocation was over", r.Attempt)
	}
	if r.Outcome != event.Done {
		return
	}
	_, t := l.kind(k.job, k.task)
	d := at.Sub(b.began[r.Attempt])
	if t.n == 0 || d < t.least {
		t.least = d
	}
	t.n++
}

// lost checks that no output is given up that outlives its node, unless it is bad.
func (l *Ledger) lost(r event.OutputLost) {
	node := l.batch.where[taskID{r.Job, r.Task}]
	if l.batch.shared[node] && !r.Bad && !l.batch.clear[allocOf(node)] {
		l.fail("output of task %d of %s is given up, but is on the shared file system: %s", r.Task, r.Job, r.Reason)
	}
}

// Clear notes that an allocation is to be cleared, and checks that no job needs it.
func (l *Ledger) Clear(id job.AllocID) {
	b := &l.batch
	if !b.elastic[id] || !b.ended[id] || b.cleared[id] {
		l.fail("%s is to be cleared: elastic %t, ended %t, cleared %t", id, b.elastic[id], b.ended[id], b.cleared[id])
	}
	b.clear[id] = true
	for k := range l.done {
		w := l.works[k.job]
		if l.state[k.job].Final() || k.task >= w.Tasks || w.Reduces == 0 || !b.shared[b.where[k]] || allocOf(b.where[k]) != id {
			continue
		}
		for i := w.Tasks; i < w.Total(); i++ {
			if !l.done[taskID{k.job, i}] {
				l.fail("%s is to be cleared, but %s needs what map %d left there", id, k.job, k.task)
				break
			}
		}
	}
}

// checkCleared checks that all elastic allocations are over and cleared.
func (l *Ledger) checkCleared() {
	for id, elastic := range l.batch.elastic {
		if elastic && !l.batch.cleared[id] {
			l.fail("%s was never cleared", id)
		}
	}
}
