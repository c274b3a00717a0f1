package report

import (
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// The positions of a task: waiting, in its phase 1, 2, …, done, or failed. A failed task is not tried again.
const (
	posWaiting = 0
	posDone    = uint8(job.NumPhases)
	posFailed  = posDone + 1
	positions  = posDone + 2
)

// task is the state of one task. It is small, as a job may have millions of tasks.
type task struct {
	pos      uint8
	live     uint8  // attempts that run or are behind one that does
	fails    uint16 // failed attempts since the job's submission or its last resume
	attempts uint16 // started attempts
	again    bool   // its last attempt asked for the next one, or did not begin: the next one is no retry
}

// tasks is the table of a job's tasks, with the sums over it.
type tasks struct {
	work   *job.Work
	table  []task
	needs  job.NeedsByTask
	took   []predict.Sketch // by needs: the seconds of the tasks that are done
	groups []group          // bag: one; MapReduce: maps, reduces
}

// group contains the sums over the tasks of one kind. Each move of a task updates the numbers by position, so
// that done, failed, running and waiting always add up to the total.
type group struct {
	kind   job.TaskKind
	first  int // index of the group's first task
	total  int
	at     [positions]int // number of tasks by position
	phases []phaseSum
	totals [job.ProgressSources]total // final progress of attempts that are done, by source
}

func newTasks(w *job.Work) tasks {
	t := tasks{work: w, table: make([]task, w.Total())}
	add := func(kind job.TaskKind, first, n int) {
		g := group{kind: kind, first: first, total: n}
		g.at[posWaiting] = n
		for _, p := range kind.Phases() {
			g.phases = append(g.phases, phaseSum{phase: p})
		}
		t.groups = append(t.groups, g)
	}
	if w.Kind == job.Bag {
		add(job.BagTask, 0, w.Tasks)
		t.addNeeds(0, w.Which)
		return t
	}
	add(job.MapTask, 0, w.Tasks)
	if w.Reduces > 0 {
		add(job.ReduceTask, w.Tasks, w.Reduces)
	}
	return t
}

// addNeeds notes which tasks have which needs, from the first on.
func (t *tasks) addNeeds(first int, which []job.NeedsRun) {
	for _, r := range which {
		t.needs.Add(first, r)
		first += int(r.Tasks)
	}
}

// needsOf returns the needs of a task.
func (t *tasks) needsOf(i int) job.Needs {
	k := t.needs.At(i)
	if t.work.TaskKind(i) == job.ReduceTask {
		k = 1
	}
	return t.work.NeedsAt(min(k, t.work.NeedsCount()-1))
}

// ApplicationOf returns the application that a task names; empty: it has that of the job.
func (j *Job) ApplicationOf(task int) string { return j.work.NeedsAt(j.needsIndex(task)).Application }

// NeedsOf returns the index of the needs of a task (job.Work.NeedsAt), and how many needs the job has.
func (j *Job) NeedsOf(task int) (index, of int) { return j.needsIndex(task), j.work.NeedsCount() }

func (j *Job) needsIndex(task int) int { return min(j.tasks.needs.At(task), j.work.NeedsCount()-1) }

// add adds waiting tasks to those of a bag.
func (t *tasks) add(n int, which []job.NeedsRun) {
	t.addNeeds(len(t.table), which)
	t.table = append(t.table, make([]task, n)...)
	for i := range t.groups {
		t.groups[i].total += n
		t.groups[i].at[posWaiting] += n
	}
}

// has reports whether there is a task with this index.
func (t *tasks) has(i int) bool { return i >= 0 && i < len(t.table) }

// group returns the group that task i belongs to.
func (t *tasks) group(i int) *group {
	if len(t.groups) > 1 && i >= t.groups[1].first {
		return &t.groups[1]
	}
	return &t.groups[0]
}

// move moves task i to a position.
func (t *tasks) move(i int, pos uint8) {
	g := t.group(i)
	g.at[t.table[i].pos]--
	g.at[pos]++
	t.table[i].pos = pos
}

// limit returns the number of failed attempts after which task i has failed.
func (t *tasks) limit(i int) int {
	return t.needsOf(i).Attempts
}

// left returns the number of further attempts that task i may have.
func (t *tasks) left(i int) int {
	if t.table[i].pos == posFailed {
		return 0
	}
	return max(t.limit(i)-int(t.table[i].fails), 0)
}

// renew resets the failures of the tasks that are not done, because the job is resumed. If again is true, failed
// tasks are waiting again.
func (t *tasks) renew(again bool) {
	for i := range t.table {
		if t.table[i].pos == posDone {
			continue
		}
		t.table[i].fails = 0
		if again && t.table[i].pos == posFailed {
			t.move(i, posWaiting)
		}
	}
}

// index returns the position of a phase among those of the group's tasks, or 0 if they have no such phase.
func (g *group) index(p job.Phase) uint8 {
	for i := range g.phases {
		if g.phases[i].phase == p {
			return uint8(i + 1)
		}
	}
	return 0
}

// tookTime adds how long a task ran to those with its needs.
func (t *tasks) tookTime(task int, seconds float64) {
	k := t.needs.At(task)
	if more := k + 1 - len(t.took); more > 0 {
		t.took = append(t.took, make([]predict.Sketch, more)...)
	}
	t.took[k].Add(seconds)
}
