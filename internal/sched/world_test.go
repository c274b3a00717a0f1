package sched

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/job"
)

// world is jobs on the nodes of a pool, told to a policy as the engine tells it.
type world struct {
	Pool
	now   job.Time
	live  []*act // in the order in which they started
	log   []string
	check func(d Decision) // called before a decision is carried out; may be nil
}

// act is an attempt of a world.
type act struct {
	Running
	node  *Node
	first job.Phase  // of its latest grant
	next  *Candidate // for which it waits; nil: it runs
}

// app is a job of a world: tasks and what their phases take at full speed.
type app struct {
	id      job.ID
	bag     bool
	tasks   [2]int // bag tasks or maps, and reduces
	need    job.Resources
	takes   map[job.Phase]job.Vector
	seconds float64 // that each phase lasts
	weight  float64
}

func newWorld(policy Policy, nodes ...job.Vector) *world {
	w := &world{}
	w.Policy = policy
	for i, has := range nodes {
		w.Nodes = append(w.Nodes, &Node{Index: i + 1, Up: true, Alloc: &Alloc{}, Capacity: has})
		w.Unit = w.Unit.Max(has)
		w.Cores += w.Nodes[i].cores()
	}
	w.Scale = PoolScale(0, w.Cores)
	return w
}

// kind returns the kind of the job's tasks of that index.
func (a *app) kind(i int) job.TaskKind {
	switch {
	case i == 1:
		return job.ReduceTask
	case a.bag:
		return job.BagTask
	}
	return job.MapTask
}

// submit has a job share the pool.
func (w *world) submit(a *app, order uint64) *Job {
	j := &Job{ID: a.id, Owner: a, Need: [2]job.Resources{a.need, a.need}, Weight: cmp.Or(a.weight, 1)}
	j.Order = order
	for i := range j.Begin {
		c := &j.Begin[i]
		c.Job, c.Kind, c.Ready.End = j, a.kind(i), int32(a.tasks[i])
		j.Left[i] = Unstarted{Tasks: a.tasks[i], CPUs: a.need.CPUs}
	}
	w.Enter(j)
	w.tell(j)
	return j
}

// tell has what the phases of the job take known, as when a profile comes or attempts are done.
func (w *world) tell(j *Job) {
	a := j.Owner.(*app)
	var profile []job.PhaseDemand
	for p := job.PhaseNone + 1; p <= job.PhaseReduce; p++ {
		if v, ok := a.takes[p]; ok {
			profile = append(profile, job.PhaseDemand{Phase: p, Takes: v, Seconds: a.seconds})
		}
	}
	j.Known.AddProfile(profile)
	for i := range j.Begin {
		c := &j.Begin[i]
		j.Demand[i] = w.Policy.Demand(j, c.Kind)
		c.Phase = c.Kind.Phases()[0]
		c.Through = w.Policy.Through(j, c.Kind, c.Phase)
		c.Takes, c.Peak = j.Demand[i].Most(job.PhaseNone, c.Through), j.Need[i].Vector()
	}
	w.enqueue(j)
}

// enqueue puts the candidates of the job where they belong after anything about it has changed.
func (w *world) enqueue(j *Job) {
	maps := 0 // that have a core
	for _, a := range w.live {
		if a.Job == j && a.Kind != job.ReduceTask {
			maps++
		}
	}
	j.Left[0].Tasks, j.Left[1].Tasks = j.Begin[0].Ready.Count(), j.Begin[1].Ready.Count()+j.Shuffles
	if waits := j.Left[0].Tasks+maps > 0; waits != j.Waits {
		j.Waits = waits
		for _, a := range w.live {
			if a.Job == j {
				w.Shuffle(a.node, &a.Running, waits)
			}
		}
	}
	w.Rerank(j)
	for i := range j.Begin {
		c := &j.Begin[i]
		c.Room = 0
		if i == 1 && j.Waits {
			c.Room = j.Demand[0].Most(job.PhaseNone, job.PhaseReduce).Memory
		}
		if c.Ready.Count() > 0 {
			w.Put(c)
		} else {
			w.Remove(c)
		}
	}
}

// run carries out what the policy decides until there is nothing more, and returns what started, as JOB.PHASE with the
// first phase that it may run through, and what ended, as JOB.end.
func (w *world) run() string {
	from := len(w.log)
	for {
		if len(w.log) > from+1000 {
			panic("decisions go on for ever: " + strings.Join(w.log[from:from+60], " "))
		}
		d := w.Policy.Select(&w.Pool, w.now)
		if d.Candidate == nil {
			if !w.Freed() {
				return strings.Join(w.log[from:], " ")
			}
			continue
		}
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
}

func (w *world) find(r *Running) *act {
	return w.live[slices.IndexFunc(w.live, func(a *act) bool { return &a.Running == r })]
}

func (w *world) start(c *Candidate, n *Node, task int) {
	c.Ready.Take(int32(task))
	a := &act{Running: Running{ID: job.Attempt{Job: c.Job.ID, Task: task}, Job: c.Job, Kind: c.Kind, Through: c.Through, Holds: c.Takes}, node: n, first: c.Phase}
	w.live = append(w.live, a)
	w.Occupy(n, &a.Running)
	w.Shuffle(n, &a.Running, c.Job.Waits)
	w.say(a, c.Phase.String())
	w.enqueue(c.Job)
}

func (w *world) goOn(a *act, c *Candidate) {
	w.Remove(c)
	a.node.Unpause(&a.Running)
	a.next, a.first = nil, c.Phase
	w.Grant(a.node, &a.Running, c.Through, c.Takes)
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

// end takes an attempt off its node: it is done, or is to be run again.
func (w *world) end(a *act, again bool) {
	j := a.Job
	if a.next != nil {
		w.Remove(a.next)
	}
	w.Vacate(a.node, &a.Running)
	w.live = slices.DeleteFunc(w.live, func(b *act) bool { return a == b })
	if again {
		w.say(a, "end")
		j.Begin[KindIndex(a.Kind)].Ready.Retry(int32(a.ID.Task), 0, false)
	}
	w.Free(a.node)
	w.enqueue(j)
}

// busy reports whether the attempt is in a phase that comes to its end by itself: it waits neither for a grant nor for maps.
func (a *act) busy() bool { return a.next == nil && !(a.Shuffles() && a.Job.Waits) }

// finish brings an attempt to the end of its leave: it asks to go on, or is done.
func (w *world) finish(a *act) {
	w.now++
	if a.Through == a.Kind.Last() {
		w.end(a, false)
		return
	}
	j, i, p := a.Job, KindIndex(a.Kind), a.Through+1
	c := &Candidate{Job: j, Running: &a.Running, Node: a.node, Phase: p, Through: w.Policy.Through(j, a.Kind, p), Since: w.now}
	c.Kind, c.Takes, c.Peak = a.Kind, j.Demand[i].Most(a.Through, c.Through), j.Begin[i].Peak
	a.next = c
	w.Put(c)
	w.Pause(a.node, &a.Running)
	w.Free(a.node)
}

// ends has the first attempt of that job which runs in a grant that began with that phase, JOB.PHASE, come to the end of it.
func (w *world) ends(what string) bool {
	for _, a := range w.live {
		if a.busy() && string(a.Job.ID)+"."+a.first.String() == what {
			w.finish(a)
			return true
		}
	}
	return false
}
