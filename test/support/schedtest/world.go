package schedtest

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// world is a set of jobs on the nodes of a pool that calls a policy as the engine does.
type world struct {
	sched.Pool
	now   job.Time
	live  []*act // in the order in which they started
	log   []string
	check func(d sched.Decision) // called before a decision is carried out; may be nil
}

// act is an attempt of a world.
type act struct {
	sched.Running
	node  *sched.Node
	since job.Time
	first job.Phase        // of its latest grant
	next  *sched.Candidate // for which it waits; nil: it runs
}

// App is a job of a world: tasks and what their phases take at full speed.
type App struct {
	id      job.ID
	bag     bool
	tasks   [2]int // bag tasks or maps, and reduces
	need    job.Resources
	takes   map[job.Phase]job.Vector
	seconds float64 // that each phase lasts
	weight  float64
}

func newWorld(pool sched.Pool, nodes ...job.Vector) *world {
	w := &world{Pool: pool}
	for i, has := range nodes {
		w.Nodes = append(w.Nodes, &sched.Node{Index: i + 1, Up: true, Alloc: &sched.Alloc{}, Capacity: has})
		w.Unit = w.Unit.Max(has)
		w.Cores += w.Nodes[i].Cores()
	}
	w.Scale = sched.PoolScale(0, w.Cores)
	return w
}

// kind returns the kind of the job's tasks of that index.
func (a *App) kind(i int) job.TaskKind {
	switch {
	case i == 1:
		return job.ReduceTask
	case a.bag:
		return job.BagTask
	}
	return job.MapTask
}

// submit adds a job to the pool.
func (w *world) submit(a *App, order uint64) *sched.Job {
	j := &sched.Job{ID: a.id, Owner: a, Weight: cmp.Or(a.weight, 1)}
	j.Order = order
	for i := range a.tasks {
		t := sched.NewTasks(j, a.kind(i))
		t.Left.Tasks = a.tasks[i]
		t.Begin.Ready.Extend(0, int32(a.tasks[i]-1))
		j.By = append(j.By, t)
	}
	w.Enter(j)
	w.tell(j)
	return j
}

// tell sets the demands of the job's phases, as a profile or measurements would.
func (w *world) tell(j *sched.Job) {
	a := j.Owner.(*App)
	var profile []job.PhaseDemand
	for p := job.PhaseNone + 1; p <= job.PhaseReduce; p++ {
		if v, ok := a.takes[p]; ok {
			profile = append(profile, job.PhaseDemand{Phase: p, Demand: v, Seconds: a.seconds})
		}
	}
	j.Known.AddProfile(profile)
	for _, t := range j.By {
		t.Set(&w.Pool, a.need, job.Gang{}, false)
	}
	w.enqueue(j)
}

// enqueue updates the candidates of the job after any change of it.
func (w *world) enqueue(j *sched.Job) {
	maps := 0 // that have a core
	for _, a := range w.live {
		if a.Job == j && a.Kind != job.ReduceTask {
			maps++
		}
	}
	j.By[0].Left.Tasks, j.By[1].Left.Tasks = j.By[0].Begin.Ready.Count(), j.By[1].Begin.Ready.Count()+j.Shuffles
	if waits := j.By[0].Left.Tasks+maps > 0; waits != j.Waits {
		j.Waits = waits
		for _, a := range w.live {
			if a.Job == j {
				w.Shuffle(a.node, &a.Running, waits)
			}
		}
	}
	w.Rerank(j)
	for i, t := range j.By {
		c := &t.Begin
		c.Room = 0
		if i == 1 && j.Waits {
			c.Room = j.By[0].Demand.Most(job.PhaseNone, job.PhaseReduce).Memory
		}
		if c.Ready.Count() > 0 {
			w.Put(c)
		} else {
			w.Remove(c)
		}
	}
}

// run carries out the decisions of the policy until there are none, and returns what started, as JOB.PHASE with the
// first phase of its grant, and what was ended, as JOB.end.
func (w *world) run() string {
	from := len(w.log)
	for again := true; again; again = w.Freed() {
		for d := range w.Decisions(w.now) {
			w.carryOut(d)
			if len(w.log) > from+1000 {
				panic("decisions go on for ever: " + strings.Join(w.log[from:from+60], " "))
			}
		}
	}
	return strings.Join(w.log[from:], " ")
}

func (w *world) carryOut(d sched.Decision) {
	if w.check != nil {
		w.check(d)
	}
	switch c := d.Candidate; {
	case d.Node == nil:
		for _, r := range d.End {
			r.KillReason = "room" // it ends when its worker says so
		}
	case c.Running != nil:
		w.goOn(w.find(c.Running), c)
	default:
		w.start(c, d.Node, d.Task)
	}
}

func (w *world) find(r *sched.Running) *act {
	return w.live[slices.IndexFunc(w.live, func(a *act) bool { return &a.Running == r })]
}

func (w *world) start(c *sched.Candidate, n *sched.Node, task int) {
	c.Ready.Take(int32(task))
	a := &act{Running: sched.Running{ID: job.Attempt{Job: c.Job.ID, Task: task}, Job: c.Job, Of: c.Job.By[sched.KindIndex(c.Kind)], Kind: c.Kind, Through: c.Through, Holds: c.Demand}, node: n, since: w.now, first: c.Phase}
	w.live = append(w.live, a)
	w.Occupy(n, &a.Running)
	w.Shuffle(n, &a.Running, c.Job.Waits)
	w.say(a, c.Phase.String())
	w.enqueue(c.Job)
}

func (w *world) goOn(a *act, c *sched.Candidate) {
	w.Remove(c)
	a.node.Unpause(&a.Running)
	a.next, a.first = nil, c.Phase
	w.Grant(a.node, &a.Running, c.Through, c.Demand)
	w.say(a, c.Phase.String())
	w.Free(a.node)
	w.enqueue(c.Job)
}

func (w *world) say(a *act, what string) { w.log = append(w.log, string(a.Job.ID)+"."+what) }

// reap ends the attempts that are being killed, and reports whether there were any.
func (w *world) reap() (any bool) {
	for _, a := range slices.Clone(w.live) {
		if a.KillReason != "" {
			w.end(a, true)
			any = true
		}
	}
	return any
}

// end removes an attempt from its node: its task is done, or runs again.
func (w *world) end(a *act, again bool) {
	j := a.Job
	if a.next != nil {
		w.Remove(a.next)
	}
	w.Vacate(a.node, &a.Running, w.now.Sub(a.since))
	w.live = slices.DeleteFunc(w.live, func(b *act) bool { return a == b })
	if again {
		w.say(a, "end")
		a.Of.Begin.Ready.Retry(int32(a.ID.Task), 0, false, nil)
	}
	w.Free(a.node)
	w.enqueue(j)
}

// busy reports whether the present phase of the attempt ends by itself: it waits neither for a grant nor for maps.
func (a *act) busy() bool { return a.next == nil && !(a.Shuffles() && a.Job.Waits) }

// finish takes an attempt to the end of its grant: it asks for another, or is done.
func (w *world) finish(a *act) {
	w.now++
	if a.Through == a.Kind.Last() {
		w.end(a, false)
		return
	}
	j, p := a.Job, a.Through+1
	c := &sched.Candidate{Job: j, Running: &a.Running, Node: a.node, Phase: p, Through: w.Through(a.Of, p), Since: w.now}
	c.Kind, c.Demand, c.Peak = a.Kind, a.Of.Demand.Most(a.Through, c.Through), a.Of.Begin.Peak
	a.next = c
	w.Put(c)
	w.Pause(a.node, &a.Running)
	w.Free(a.node)
}

// ends finishes the first attempt of the job whose grant began with that phase, given as JOB.PHASE.
func (w *world) ends(what string) bool {
	for _, a := range w.live {
		if a.busy() && string(a.Job.ID)+"."+a.first.String() == what {
			w.finish(a)
			return true
		}
	}
	return false
}
