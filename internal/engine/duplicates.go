package engine

import (
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/step"
)

// A task may have several live attempts: its first is too slow, and another was begun beside it (a duplicate). The first to
// be done wins. At most one of them may put its output into place at a time: a grant stands until its attempt is over.

// begins reports whether an attempt of that number may begin the task: the task is ready, or the attempt is a new duplicate.
func (t *task) begins(n int) bool {
	return t.status == ready || t.status == running && n > int(t.attempt)
}

// join and part take in that an attempt lives from now on, beside others of its task if there are any, and that it does no more.
func (j *jobState) join(a *attempt) {
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

func (j *jobState) part(a *attempt) {
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

// unready takes a task that begins, or is done by an attempt that was given up, from those that wait.
func (j *jobState) unready(i int) {
	class := j.class(i)
	if j.tasks[i].status == ready {
		j.Begin[class].Ready.Take(int32(i))
	}
	j.Urgent[class].Ready.Drop(int32(i))
}

// finish takes in that an attempt did its task.
func (j *jobState) finish(id job.Attempt) {
	t := &j.tasks[id.Task]
	j.unready(id.Task)
	j.move(id.Task, done)
	t.later = uint8(min(255, int(t.attempt)-id.N))
}

// duplicates returns how many other attempts of its task live.
func (j *jobState) duplicates(a *attempt) int {
	n := -1
	for b := j.first(a.ID.Task); b != nil; b = b.duplicate {
		n++
	}
	return n
}

// granted returns the attempt of the task that may put its output into place, nil if none may.
func (j *jobState) granted(task int) *attempt {
	a := j.first(task)
	for a != nil && !a.commit {
		a = a.duplicate
	}
	return a
}

// grantCommit lets an attempt put its output into place.
func (e *Engine) grantCommit(a *attempt) {
	a.held = false
	e.emit(event.CommitGranted{Attempt: a.ID})
	e.do(step.Commit{Attempt: a.ID, Node: a.node.id})
}

// beaten is why an attempt is killed whose task another did.
const beaten = "another attempt of its task was first"

// ended records the end of an attempt, and settles what follows for others of its task: when one has done it they are killed, and
// when one that might commit has not, another may that waits for that. A worker that is away asks again when it is back.
func (e *Engine) ended(a *attempt, r event.AttemptEnded) {
	e.emit(r)
	j, task := a.job, a.ID.Task
	if j.tasks[task].attempt == 1 {
		return // it was the only one ever
	}
	for b := j.first(task); b != nil; b = b.duplicate {
		switch {
		case b.KillReason != "":
		case r.Outcome == event.Done:
			e.kill(b, beaten)
		case b.held && b.node.state == up && j.granted(task) == nil:
			e.grantCommit(b)
		}
	}
}

// mayDuplicate reports whether a further attempt of a bag task may be begun beside one that runs. Then an attempt asks
// before it puts its output into place. Tasks that take less than 10 s on average, where looks are 3 s apart, are too short for that.
func (e *Engine) mayDuplicate(j *jobState) bool {
	return j.work.MayDuplicate(job.BagTask) && j.Left[0].Mean() >= e.cfg.LookEvery*10/3
}
