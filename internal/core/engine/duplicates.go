package engine

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// A task may have several running attempts: the first is too slow, and a duplicate was started beside it. The first
// attempt that is done wins. At most one of them may commit its output at a time, as a grant to commit lasts until its
// attempt has ended.

// begins reports whether an attempt of that number may start the task: the task is ready, or the attempt is a new
// duplicate.
func (t *task) begins(n int) bool {
	return t.status == ready || t.status == running && n > int(t.attempt)
}

// joinAttempt and part note that an attempt runs, beside others of its task if there are any, and that it no longer does.
func (j *jobState) joinAttempt(a *attempt) {
	t := &j.tasks[a.ID.Task]
	if last := len(j.vacant) - 1; t.live == 0 && last >= 0 {
		t.live, j.vacant = j.vacant[last], j.vacant[:last]
	} else if t.live == 0 {
		t.live, j.live = int32(len(j.live)), append(j.live, nil)
	}
	at := &j.live[t.live]
	for *at != nil {
		at = &(*at).duplicate
	}
	*at = a
}

func (j *jobState) partAttempt(a *attempt) {
	t := &j.tasks[a.ID.Task]
	at := &j.live[t.live]
	for *at != a {
		at = &(*at).duplicate
	}
	if *at = a.duplicate; j.live[t.live] == nil {
		j.vacant = append(j.vacant, t.live)
		t.live = 0
	}
}

// unready removes a task from the ready ones, because it starts or because a lost attempt has done it.
func (j *jobState) unready(i int) {
	like := j.tasksAlike(i)
	if j.tasks[i].status == ready {
		like.Begin.Ready.Take(int32(i))
	}
	like.Urgent.Ready.Drop(int32(i))
}

// finish notes that an attempt has done its task.
func (j *jobState) finish(id job.Attempt) {
	t := &j.tasks[id.Task]
	j.unready(id.Task)
	j.moveTask(id.Task, done)
	delete(j.cancelled, int32(id.Task))
	t.later = uint8(min(255, int(t.attempt)-id.N))
}

// duplicates returns the number of other running attempts of its task.
func (j *jobState) duplicates(a *attempt) int {
	n := -1
	for b := j.firstAttempt(a.ID.Task); b != nil; b = b.duplicate {
		n++
	}
	return n
}

// granted returns the attempt of the task that may commit its output, nil if there is none.
func (j *jobState) granted(task int) *attempt {
	a := j.firstAttempt(task)
	for a != nil && !a.commit {
		a = a.duplicate
	}
	return a
}

// giveUpDuplicate gives up a duplicate that has not started, as the attempt beside which it would start may commit.
func (e *Engine) giveUpDuplicate(a *attempt) {
	if q := &a.job.tasksAlike(a.ID.Task).Urgent.Ready; q.Count() > 0 {
		q.Drop(int32(a.ID.Task))
		e.enqueue(a.job)
	}
}

// grantCommit permits an attempt to commit its output.
func (e *Engine) grantCommit(a *attempt) {
	a.held, a.puts = false, a.asks || e.contested(a.job) // it was told to ask before, and its answer takes nothing of this grant back
	if !a.commit {
		e.emit(event.CommitGranted{Attempt: a.ID})
	}
	e.do(step.Commit{Attempt: a.ID, Node: a.node.id, Except: e.takeFiles(a)})
}

// beaten is the reason for killing an attempt whose task another attempt has done.
const beaten = "another attempt of its task was first"

// recordEnd records the end of an attempt and its consequences for other attempts of its task: when the task is done they
// are killed, and when an attempt with a grant to commit has ended otherwise, one that waits for the grant gets it. If
// its worker is away, the attempt asks again later.
func (e *Engine) recordEnd(a *attempt, r event.AttemptEnded) {
	if r.Cut {
		r = e.tooLong(a, r)
	}
	e.leaveGang(a)
	e.emit(r)
	e.unblock()
	j, task := a.job, a.ID.Task
	if j.tasks[task].attempt == 1 {
		return // the task never had another attempt
	}
	for b := j.firstAttempt(task); b != nil; b = b.duplicate {
		switch {
		case b.KillReason != "":
		case r.Outcome == event.Done:
			e.killAttempt(b, beaten)
		case b.held && b.node.state == up && j.granted(task) == nil:
			e.tryCommit(b)
		}
	}
}

// mayDuplicate reports whether an attempt of one of these tasks of a bag may get a duplicate. If so it must ask before it commits.
// With an interval of 3 s, tasks that take less than 10 s on average are too short for that.
func (e *Engine) mayDuplicate(j *jobState, t *byNeeds) bool {
	return j.work.MayDuplicate(job.BagTask) && t.twice() && t.Left.Mean() >= e.cfg.AssessEvery*10/3
}

// twice reports whether two attempts of one of these tasks may run at once. Gangs hold too much for that, and so do tasks that use what all jobs share.
func (t *byNeeds) twice() bool { return !t.Begin.Several() && t.needs.Uses == "" }
