package engine

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict/memory"
)

// A task of a bag that ran out of memory or of its time limit starts again with more, as far as its needs allow: with what the history of the
// application says, else with twice as much. As long as no task with the same needs was done with what they have, all that wait get more, else
// only that task does. Which needs tasks have from then on is in records (event.NeedsChanged).

// What can grow, as an index.
const (
	growMem = iota
	growTime
)

const (
	// clearly is the part by which other memory must differ for waiting tasks to get it.
	clearly = 8
	// learnAll is how many of a job's tasks are learned from without exception. Of the others, fewer and fewer are.
	learnAll = 256
)

// growth is what a bag's tasks used, by which the needs of others are chosen.
type growth struct {
	on      bool // tasks may get other needs than they have
	history memory.History
	tasks   int // that were done
	samples int // of them, that were learned from

	// The following fields are not part of the state of the records.

	reviewed int    // samples at the last review
	last     string // the last change, for people
}

// begin turns growth on if any of the job's needs may grow.
func (g *growth) begin(j *jobState) {
	if j.work.Kind != job.Bag {
		return
	}
	before := g.on
	g.on = slices.ContainsFunc(j.of, func(t *byNeeds) bool { return t.needs.MayGrow() })
	if g.on && !before && g.samples == 0 {
		for _, s := range j.work.Memory {
			g.history.Learn(s)
		}
		g.samples = len(j.work.Memory)
	}
}

// memory returns the memory that a bag's task may use, in bytes; 0: it is not limited.
func (j *jobState) memory(i int) int64 {
	if j.work.Kind != job.Bag {
		return 0
	}
	return j.tasksAlike(i).needs.Mem
}

// limits returns the memory in bytes and the time limit in ns of tasks with these needs.
func limits(n job.Needs) [2]int64 { return [...]int64{growMem: n.Mem, growTime: int64(n.TimeLimit)} }

// growthLimit returns the most memory in bytes, or the longest time limit in ns, that tasks with these needs may get.
func (j *jobState) growthLimit(n job.Needs, what int) int64 {
	if what == growTime {
		return max(int64(n.TimeLimit), int64(n.MaxTimeLimit))
	}
	most := n.MaxMem
	if n.AutoMem && most == 0 {
		most = math.MaxInt64
	}
	if node := j.work.NodeMem; node > 0 {
		most = min(most, node/j.together(n))
	}
	if p := j.pool; p != nil && p.shape.Endless() && p.Unit.Memory > 0 {
		most = min(most, p.Unit.Memory/j.together(n))
	}
	return max(n.Mem, most)
}

// outgrown turns the end of an attempt that ran out of memory or time into one that does not count, if its task can get more. One that used as
// much memory as it may ever get is the last of its task.
func (e *Engine) outgrown(a *attempt, r event.AttemptEnded) event.AttemptEnded {
	j, what := a.job, growMem
	if r.Lack == event.LackTime {
		what = growTime
	}
	now, had := j.tasksAlike(a.ID.Task).needs, a.had[what]
	has, most := limits(now)[what], j.growthLimit(now, what)
	switch {
	case had == 0:
		return r
	case has <= had && most <= had:
		r.Last = r.Lack == event.LackMemory
		return r
	case has <= had:
		has = j.enlarge(now, what, had, most)
	}
	if !e.raise(a, what, has) {
		return r
	}
	r.Outcome, r.Reason = event.Outgrown, ranOut(what, had)+"; its task starts again with "+amount(what, has)
	return r
}

// enlarge returns what a task gets next that ran out of what it had.
func (j *jobState) enlarge(n job.Needs, what int, had, most int64) int64 {
	next := 2 * had
	if what == growMem && j.growth.samples > 0 {
		next = memory.Round(j.growth.history.Next(n.Size, had))
	}
	return min(next, most)
}

// raise gives the task of an attempt that much memory or time at least, and all that wait and have the same needs, if none of them was done
// with what these have. It returns false if the job has too many different needs.
func (e *Engine) raise(a *attempt, what int, to int64) bool {
	j, i := a.job, a.ID.Task
	k := j.needsIndex(i)
	t, had := j.of[k], a.had[what]
	r := event.NeedsChanged{Job: j.ID, Index: uint16(k), Task: event.AllTasks}
	if what == growTime {
		r.TimeLimit = time.Duration(to)
	} else {
		r.Mem = to
	}
	now := limits(t.needs)[what]
	if now <= had && (t.least[what] == 0 || t.least[what] > had) {
		r.Reason = ranOut(what, had) + "; tasks that wait get " + amount(what, to)
		e.emit(r)
		now = to
	}
	if t.raised && now >= to {
		return true
	}
	r.Task, r.Reason = int32(i), ranOut(what, had)+" and starts again with "+amount(what, to)
	if _, ok := j.raisedTo(t, r); !ok && len(j.of) >= job.MaxNeeds {
		return now > had
	}
	e.emit(r)
	return true
}

func amount(what int, n int64) string {
	if what == growTime {
		return job.FormatDuration(time.Duration(n))
	}
	return job.FormatSize(n)
}

func ranOut(what int, had int64) string {
	if what == growTime {
		return "ran longer than " + amount(what, had)
	}
	return "ran out of " + amount(what, had) + " of memory"
}

// changed returns the needs after a record.
func changed(n job.Needs, r event.NeedsChanged) job.Needs {
	if r.Mem > 0 {
		n.Mem = r.Mem
	}
	if r.TimeLimit > 0 {
		n.TimeLimit = r.TimeLimit
	}
	return n
}

// raisedTo returns the index of the needs that a task gets by a record, whose present ones are those of t.
func (j *jobState) raisedTo(t *byNeeds, r event.NeedsChanged) (k int, ok bool) {
	want := changed(t.needs, r)
	for k, t := range j.of {
		if t.raised && t.needs == want {
			return k, true
		}
	}
	return 0, false
}

// applyNeeds applies that tasks have other needs.
func (j *jobState) applyNeeds(r event.NeedsChanged) {
	if j.work.Kind != job.Bag || int(r.Index) >= len(j.of) || int(r.Task) >= len(j.tasks) {
		return
	}
	t := j.of[r.Index]
	if r.Task == event.AllTasks {
		j.keepRunning(t)
		t.needs = changed(t.needs, r)
	} else {
		k, ok := j.raisedTo(t, r)
		if !ok {
			k = len(j.of)
			fresh := j.newNeeds(t.Kind(), changed(t.needs, r))
			fresh.raised, fresh.base = true, t.base
			if !t.raised {
				fresh.base = int(r.Index)
			}
		}
		j.moveNeeds(int(r.Task), k)
	}
	j.growth.last = r.Reason
	if r.Task >= 0 {
		j.growth.last = j.work.NameOf(int(r.Task)) + " " + r.Reason
	}
	if j.pool != nil {
		j.demand()
	}
}

// keepRunning has the running attempts of these tasks keep the needs that they started with.
func (j *jobState) keepRunning(t *byNeeds) {
	old := t.Tasks
	for _, a := range j.live {
		for ; a != nil; a = a.duplicate {
			if a.Of == &t.Tasks {
				a.Of = &old
			}
		}
	}
}

// moveNeeds gives a task the needs with that index.
func (j *jobState) moveNeeds(i, k int) {
	from, to, task := j.tasksAlike(i), j.of[k], &j.tasks[i]
	if from == to {
		return
	}
	if more := len(j.tasks) - len(j.which); more > 0 {
		j.which = append(j.which, make(job.NeedsByTask, more)...)
	}
	if task.status == ready {
		from.Begin.Ready.Take(int32(i))
	}
	from.Urgent.Ready.Drop(int32(i))
	from.total--
	to.total++
	if n := from.counts.countOf(task.status); n != nil {
		*n--
		*to.counts.countOf(task.status)++
	}
	if task.cut {
		from.Left.Cuts--
		to.Left.Cuts, to.Left.Longest = to.Left.Cuts+1, max(to.Left.Longest, from.Left.Longest)
	}
	j.which[i] = uint16(k)
	if task.status == ready {
		j.retryTask(i, 0)
	}
}

// renewNeeds gives the tasks of a resumed job the needs of its present terms, if they differ from those before. Tasks that ran out of less get no
// less than they have, unless what they have may not grow any more.
func (j *jobState) renewNeeds(before job.Terms) {
	same := j.work.Terms.Needs() == before.Needs()
	for k, at := range j.place {
		t, fresh := j.of[at], j.work.NeedsAt(k)
		if same {
			fresh.Mem, fresh.TimeLimit = t.needs.Mem, t.needs.TimeLimit
		}
		t.needs, t.attempts = fresh, fresh.Attempts
	}
	for _, t := range j.of {
		if !t.raised {
			continue
		}
		had, fresh := t.needs, j.of[t.base].needs
		if t.needs, t.attempts = fresh, fresh.Attempts; same || fresh.MayGrow() {
			t.needs.Mem = max(fresh.Mem, min(had.Mem, j.growthLimit(fresh, growMem)))
			t.needs.TimeLimit = max(fresh.TimeLimit, min(had.TimeLimit, time.Duration(j.growthLimit(fresh, growTime))))
		}
	}
	j.growth.reviewed = 0
	j.growth.begin(j)
}
