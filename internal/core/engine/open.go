package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// An open bag (job.Work.Open) gets tasks until it is closed. Once all that it has are over it is in no pool, so that it
// keeps no allocation, and enters the line again with the next tasks.

const (
	// gather is how long an open bag waits after the first task that comes to it while it rests, before nodes are requested:
	// others mostly come with it, one at a time.
	gather = 500 * time.Millisecond
	// growEvery is the shortest time between a plan of an open bag and the next one for tasks that the first did not know of. It
	// doubles with each plan that requests nothing, up to maxVain times, as the batch system is asked for its queue each time, but
	// not for twice as many tasks as the plan knew of.
	growEvery = time.Second
	maxVain   = 6
)

// known is what the last plan of a job knew of it.
type known struct {
	at    job.Time // when it was requested; 0: there was none
	all   int      // tasks that were left
	left  int      // likewise, but no more than there were since then
	short int      // allocations with too little time for the next task (prospect.short), but no more than there were since then
	vain  int      // plans in a row, this one included, that requested nothing
}

// replanAt returns when a job with so many tasks left, which has grown, may be planned again.
func (k *known) replanAt(left int) job.Time {
	if left > 2*k.all {
		return k.at.Add(growEvery)
	}
	return k.at.Add(growEvery << min(k.vain, maxVain))
}

// mayGrow reports whether the job is or was an open bag, whose plans know only of the tasks that there were.
func (j *jobState) mayGrow() bool { return j.work.Open || j.closed }

// hasGrown reports whether clearly more tasks of a bag that is or was open are left than its last plan knew of.
func (j *jobState) hasGrown() bool { return j.mayGrow() && 4*j.counts[0].left() > 5*j.knew.left }

// runsOut reports whether more allocations of a bag that is or was open have too little time for another task than its last plan knew of,
// because it got more tasks, or tasks took longer than the plan expected.
func (j *jobState) runsOut(pr prospect) bool { return j.mayGrow() && pr.ok && pr.short > j.knew.short }

// whyGrown returns the reason of a plan for a job that has grown.
func (j *jobState) whyGrown() string {
	left := job.Count(j.counts[0].left(), "task")
	if j.knew.left == 0 {
		return left + " are left, and no plan has counted on the allocations that there are now"
	}
	return fmt.Sprintf("%s are left, and the last plan knew of %d", left, j.knew.left)
}

// mayPlan reports whether the job may be planned at that time, and not only when more tasks have come to it.
func (j *jobState) mayPlan(now job.Time) bool { return !j.work.Open || now >= j.Released.Add(gather) }

// addTasks adds tasks to an open bag. The tasks that they come after must not go in a circle (package task sees to it).
func (e *Engine) addTasks(in step.Add) error {
	j := e.jobs[in.Job]
	switch {
	case j == nil:
		return unknownJob(in.Job)
	case !j.active():
		return step.UserError(in.Job, "the bag is "+string(j.state), "continue it first with: berth resume "+string(in.Job))
	case !j.work.Open:
		return step.UserError(in.Job, "the bag takes no further tasks: it was closed, or submitted without --open", "submit another one with --open")
	case int64(j.work.Tasks)+int64(in.N) > math.MaxInt32:
		return step.UserError(in.Job, fmt.Sprintf("a bag cannot have more than %d tasks", math.MaxInt32), "close it and submit another one")
	}
	for _, c := range in.After {
		for _, before := range c.After {
			if int(c.Task) < j.work.Tasks || int(c.Task) >= j.work.Tasks+in.N || int(before) >= j.work.Tasks+in.N || before == c.Task {
				return step.UserError(in.Job, fmt.Sprintf("task %d cannot come after task %d", c.Task, before), "")
			}
		}
	}
	r, err := j.ownNeeds(in.TasksAdded)
	for _, n := range r.Further {
		err = cmp.Or(err, e.checkUses(j.ID, n.In(j.work.Terms.Needs())))
	}
	if err != nil {
		return err
	}
	shared := len(j.claims) > 0
	if e.emit(r); !shared {
		e.contest(j)
	}
	return nil
}

// closeBag says that no more tasks come.
func (e *Engine) closeBag(in step.Close) error {
	j := e.jobs[in.Job]
	switch {
	case j == nil:
		return unknownJob(in.Job)
	case !j.work.Open && j.work.Kind == job.Bag:
		return nil // it was closed before
	case !j.work.Open:
		return step.UserError(in.Job, "only a bag can be open", "")
	}
	e.emit(event.BagClosed{Job: in.Job})
	return nil
}

// isResting reports whether an open bag has nothing to do until tasks are added.
func (j *jobState) isResting() bool {
	return j.work.Open && j.active() && j.unfinished() == 0 && j.Live == 0
}

// restBag takes an open bag that has nothing to do out of its pool.
func (e *Engine) restBag(at job.Time, j *jobState) {
	p := j.pool
	if p == nil || !j.isResting() {
		return
	}
	e.enqueue(j) // removes its candidates
	p.removeJob(j, at)
	e.prunePool(p)
	j.measured, j.knew = false, known{}
	for _, t := range j.of {
		t.waits, t.span = false, 0
	}
	e.touchAllocs()
}

func (e *Engine) applyAdded(at job.Time, j *jobState, r event.TasksAdded) {
	if j.shuffles() {
		return
	}
	if r.Shares {
		e.claimFiles(at, j)
	}
	j.work.Tasks += r.N
	j.work.Further = append(j.work.Further, r.Further...)
	j.addNeeds()
	j.growth.begin(j)
	j.growth.reviewed = 0 // the needs may be new
	j.addTasks(needsRuns(r.N, r.Which))
	if j.pool != nil && len(r.Further) > 0 {
		j.demand()
	}
	for _, c := range r.After {
		j.block(c)
	}
	if j.pool == nil && len(j.after) == 0 && j.active() {
		j.Released = max(j.Released, at)
		asked := j.plan.onWay
		e.enterLine(j)
		j.asked, j.plan.onWay = len(j.work.More)+1, asked // its first plan is out of date
	}
}

// order is which tasks of a bag come after which others.
type order struct {
	left   map[int32]int32   // by blocked task: how many tasks are not done that it comes after
	behind map[int32][]int32 // by task that is not done: the tasks that come after it
	failed []int32           // tasks that failed and have tasks behind them that are not given up yet
}

// block has a new task wait for others.
func (j *jobState) block(c event.Comes) {
	if int(c.Task) >= len(j.tasks) {
		return
	}
	for _, before := range c.After {
		if int(before) >= len(j.tasks) || j.tasks[before].status == done {
			continue
		}
		if j.order.left == nil {
			j.order = order{left: make(map[int32]int32), behind: make(map[int32][]int32)}
		}
		j.order.left[c.Task]++
		j.order.behind[before] = append(j.order.behind[before], c.Task)
	}
	if j.order.left[c.Task] == 0 {
		return
	}
	j.tasksAlike(int(c.Task)).Begin.Ready.Take(c.Task)
	j.moveTask(int(c.Task), blocked)
	for _, before := range c.After {
		j.noteFailed(before)
	}
}

// unblock makes the tasks ready that waited for this one alone.
func (j *jobState) unblock(i int32) {
	for _, next := range j.order.behind[i] {
		if j.order.left[next]--; j.order.left[next] > 0 {
			continue
		}
		delete(j.order.left, next)
		if j.tasks[next].status == blocked {
			j.moveTask(int(next), ready)
			j.retryTask(int(next), 0)
		}
	}
	delete(j.order.behind, i)
}

// blocks reports whether a task has failed that others wait for.
func (j *jobState) blocks(i int32) bool {
	return j.tasks[i].status == failed && slices.ContainsFunc(j.order.behind[i], func(b int32) bool { return j.tasks[b].status == blocked })
}

// noteFailed notes a task if it has failed and others wait for it.
func (j *jobState) noteFailed(i int32) {
	if j.blocks(i) && !slices.Contains(j.order.failed, i) {
		j.order.failed = append(j.order.failed, i)
	}
}

// forgetSkipped forgets failed tasks for which no others wait any more.
func (j *jobState) forgetSkipped() {
	j.order.failed = slices.DeleteFunc(j.order.failed, func(i int32) bool { return !j.blocks(i) })
}

// skipDependents gives up the tasks that come after failed ones, directly or through others.
func (e *Engine) skipDependents(j *jobState) {
	for len(j.order.failed) > 0 { // the record takes the task out of the list
		because := j.order.failed[0]
		var tasks []int32
		seen := make(map[int32]bool)
		for next := slices.Clone(j.order.behind[because]); len(next) > 0; next = next[1:] {
			if i := next[0]; !seen[i] && j.tasks[i].status == blocked {
				seen[i] = true
				tasks = append(tasks, i)
				next = append(next, j.order.behind[i]...)
			}
		}
		slices.Sort(tasks)
		e.emit(event.TasksSkipped{Job: j.ID, Because: because, Tasks: tasks})
	}
}

func (j *jobState) applySkipped(r event.TasksSkipped) {
	for _, i := range r.Tasks {
		if int(i) < len(j.tasks) && j.tasks[i].status == blocked {
			j.moveTask(int(i), failed)
		}
	}
	j.forgetSkipped()
}
