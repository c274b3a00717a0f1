package enginetest

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Ledger folds records in the simplest way, and checks them against each other and
// against the actions of workers.
type Ledger struct {
	fail       func(format string, args ...any)
	works      map[job.ID]job.Work
	capacity   map[job.NodeID]job.Resources
	live       map[job.Attempt]liveAttempt
	done       map[taskID]bool
	after      map[taskID][]int32 // the tasks that a task comes after
	unwanted   map[taskID]bool    // cancelled tasks
	state      map[job.ID]event.State
	commits    map[taskID][]job.Attempt
	unreported map[job.Attempt]bool // attempts that were lost before their end was reported
	needs      map[taskID]uint16    // the index of the needs of a task
	ranOut     map[taskID]int64     // memory of which a task has run out
	whole      bool                 // tasks hold what they need from start to end, as with the scheduler Cores
	Lines      int                  // attempts that were sent behind others
	Gangs      int                  // gangs that started on several nodes
	Scarce     int                  // attempts that used the last of what all jobs share
	Duplicates Duplicates           // counts of tasks with several attempts
	torn       bool                 // records of one step are missing
	batch      batchLedger
	Claims     claims
}

// Duplicates counts attempts of tasks with several running attempts.
type Duplicates struct {
	Begun  int // attempts that started beside another
	Won    int // of those: attempts that did their tasks
	Killed int // attempts whose task another attempt did
	Slow   int // attempts killed because they were too slow
}

type taskID struct {
	job  job.ID
	task int
}

type liveAttempt struct {
	id      job.Attempt
	node    job.NodeID
	through job.Phase
	commit  bool
	mem     int64
	behind  job.Attempt // the attempt after which it begins; zero: it has begun
	gang    []event.Share
}

// NewLedger returns an empty ledger that reports errors to fail.
func NewLedger(fail func(format string, args ...any)) *Ledger {
	return &Ledger{
		fail: fail, works: make(map[job.ID]job.Work), capacity: make(map[job.NodeID]job.Resources),
		needs: make(map[taskID]uint16), ranOut: make(map[taskID]int64), live: make(map[job.Attempt]liveAttempt), done: make(map[taskID]bool), unwanted: make(map[taskID]bool), after: make(map[taskID][]int32), state: make(map[job.ID]event.State),
		commits: make(map[taskID][]job.Attempt), unreported: make(map[job.Attempt]bool), batch: newBatchLedger(),
		Claims: claims{of: make(map[job.ID][]firstClaim), files: make(map[uint64]owner)},
	}
}

// Apply applies a record.
func (l *Ledger) Apply(e event.Entry) {
	l.applyBatch(e)
	l.applyClaims(e.Record)
	switch r := e.Record.(type) {
	case event.JobSubmitted:
		l.works[r.Work.ID], l.state[r.Work.ID] = r.Work, event.StateQueued
		l.noteNeeds(r.Work.ID, 0, r.Work.Which)
	case event.JobResumed:
		l.state[r.Job] = event.StateQueued
		l.resumed(r)
	case event.TermsChanged:
		w := l.works[r.Job]
		w.Terms = r.Terms
		l.works[r.Job] = w
	case event.TasksAdded, event.BagClosed, event.TasksSkipped, event.TasksCancelled:
		l.applyOpen(r)
	case event.JobStopping:
		l.state[r.Job] = event.StateStopping
	case event.JobEnded:
		l.ended(r)
	case event.NodeJoined:
		l.capacity[r.Node] = r.Capacity
	case event.AttemptStarted:
		l.started(r)
	case event.PhaseGranted:
		l.change(r.Attempt, func(a *liveAttempt) { a.through = r.Phase })
	case event.CommitGranted:
		l.change(r.Attempt, func(a *liveAttempt) { a.commit = true })
	case event.AttemptEnded:
		l.attemptEnded(r)
	case event.OutputLost:
		k := taskID{r.Job, r.Task}
		if !l.done[k] {
			l.fail("output of %v lost, which it does not have", k)
		}
		delete(l.done, k)
	}
}

func (l *Ledger) started(r event.AttemptStarted) {
	k := taskID{r.Attempt.Job, r.Attempt.Task}
	duplicates := l.of(k)
	if len(duplicates) > 0 {
		l.Duplicates.Begun++
	}
	for _, a := range duplicates {
		w := l.works[k.job]
		switch {
		case !w.MayDuplicate(w.TaskKind(k.task)):
			l.fail("%v is started beside %v, and its job allows no duplicates", r.Attempt, a.id)
		case a.node == r.Node:
			l.fail("%v is started beside %v on the same node", r.Attempt, a.id)
		case r.Commit || a.commit:
			l.fail("%v is started beside %v, and one of them may commit", r.Attempt, a.id)
		}
	}
	for _, before := range l.after[k] {
		if !l.done[taskID{k.job, int(before)}] {
			l.fail("%v is started before task %d is done", r.Attempt, before)
		}
	}
	if l.done[k] {
		l.fail("%v is started though its task is done", r.Attempt)
	}
	if l.unwanted[k] {
		l.fail("%v is started though its task is cancelled", r.Attempt)
	}
	if s := l.state[k.job]; s == event.StateStopping || s.Final() {
		l.fail("%v is started though its job is %s", r.Attempt, s)
	}
	l.live[r.Attempt] = liveAttempt{r.Attempt, r.Node, r.Through, r.Commit, r.Mem, l.lead(r), r.Gang}
	l.checkMem(r)
	l.checkGang(r)
	l.checkUses(r)
	l.check(r.Node)
}

// lead returns the attempt behind which another is to begin.
func (l *Ledger) lead(r event.AttemptStarted) job.Attempt {
	for _, a := range l.of(taskID{r.Attempt.Job, r.Behind - 1}) {
		if a.node == r.Node {
			l.Lines++
			return a.id
		}
	}
	return job.Attempt{}
}

// part takes an attempt that has ended out of its line.
func (l *Ledger) part(ended liveAttempt) {
	for id, a := range l.live {
		if a.behind == ended.id {
			a.behind = ended.behind
			l.live[id] = a
		}
	}
}

// of returns the running attempts of a task.
func (l *Ledger) of(k taskID) (all []liveAttempt) {
	for id, a := range l.live {
		if id.Job == k.job && id.Task == k.task {
			all = append(all, a)
		}
	}
	return all
}

func (l *Ledger) change(id job.Attempt, f func(*liveAttempt)) {
	a, ok := l.live[id]
	if !ok {
		l.fail("%v is granted something, but does not live", id)
		return
	}
	f(&a)
	l.live[id] = a
	l.check(a.node)
	for _, b := range l.of(taskID{id.Job, id.Task}) {
		if b.id != id && a.commit && b.commit {
			l.fail("%v and %v may both commit", id, b.id)
		}
	}
}

func (l *Ledger) attemptEnded(r event.AttemptEnded) {
	k := taskID{r.Attempt.Job, r.Attempt.Task}
	if r.Slow {
		l.Duplicates.Slow++
	}
	if r.Outcome == event.Killed && l.done[k] {
		l.Duplicates.Killed++
	}
	if r.Outcome == event.Done && r.Attempt.N > 1 && len(l.of(k)) > 1 {
		l.Duplicates.Won++
	}
	l.noteRanOut(r)
	if a, ok := l.live[r.Attempt]; ok {
		delete(l.live, r.Attempt)
		l.part(a)
	} else if r.Outcome != event.Done {
		l.fail("%v ended %v, but does not live", r.Attempt, r.Outcome)
	}
	if r.Outcome != event.Done && len(l.commits[k]) > 0 {
		l.unreported[r.Attempt] = true
	}
	if r.Outcome == event.Done {
		if l.done[k] {
			l.fail("%v is done for the second time", r.Attempt)
		}
		l.done[k] = true
	}
}

func (l *Ledger) ended(r event.JobEnded) {
	l.state[r.Job] = r.State
	if l.works[r.Job].Open && r.State == event.StateDone {
		l.fail("%s is done and was not closed", r.Job)
	}
	for k, a := range l.live {
		if k.Job == r.Job {
			l.fail("%s ended with %v running", r.Job, a.id)
		}
	}
}

// check checks that the attempts of a node fit on it together.
func (l *Ledger) check(node job.NodeID) {
	capacity, known := l.capacity[node]
	var sum job.Resources
	for k, a := range l.live {
		ranks := a.ranksOn(node)
		if ranks == 0 || a.behind.N > 0 {
			continue
		}
		need := l.need(k)
		if l.works[k.Job].Kind == job.Bag {
			need.Mem = a.mem
		}
		if a.through == job.PhaseShuffle {
			need.CPUs = 0
		}
		for range ranks {
			sum = sum.Plus(need)
		}
	}
	if !l.whole { // what schedulers measure may be less, but no GPU is given twice
		sum.CPUs, sum.Mem = 0, 0
	}
	if known && !l.torn && !sum.Fits(capacity) {
		l.fail("%s has %v, its attempts hold %v", node, capacity, sum)
	}
}

// need returns what the task of an attempt needs.
func (l *Ledger) need(a job.Attempt) job.Resources { return l.needsOf(a).Resources() }

func (l *Ledger) needsOf(a job.Attempt) job.Needs {
	w, k := l.works[a.Job], int(l.needs[taskID{a.Job, a.Task}])
	if w.TaskKind(a.Task) == job.ReduceTask {
		k = 1
	}
	return w.NeedsAt(k)
}

// noteNeeds notes which tasks have which needs, from the first on.
func (l *Ledger) noteNeeds(id job.ID, first int, which []job.NeedsRun) {
	for _, r := range which {
		for range r.Tasks {
			l.needs[taskID{id, first}] = r.Index
			first++
		}
	}
}

// Commit notes that a worker committed the output of an attempt.
func (l *Ledger) Commit(id job.Attempt) {
	k := taskID{id.Job, id.Task}
	if a, ok := l.live[id]; !ok || !a.commit {
		l.fail("%v commits, but may not: %+v", id, a)
	}
	for _, b := range l.commits[k] {
		if !l.unreported[b] {
			l.fail("%v commits after %v did", id, b)
		}
	}
	l.commits[k] = append(l.commits[k], id)
}

// Commits returns how often a task was committed.
func (l *Ledger) Commits(id job.ID, task int) int { return len(l.commits[taskID{id, task}]) }

// Died notes that a worker died before it could report these ends. The outputs that it had
// committed will be committed again, as nobody knows of them.
func (l *Ledger) Died(ended []event.AttemptEnded) {
	for _, r := range ended {
		if r.Outcome == event.Done {
			l.unreported[r.Attempt] = true
		}
	}
}
