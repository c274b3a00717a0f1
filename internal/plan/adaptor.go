package plan

import (
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
)

const (
	// usualStartUp is how long after its start the workers of an allocation are ready, in
	// seconds: the batch system's launch, the worker's own, and its call to the coordinator.
	// Where allocations of a job have begun and took longer, that counts.
	usualStartUp = 5.0
	// slowBy and slowShare are by how much longer it may take before an allocation is too
	// short for the task that it was asked for: so many seconds, or such a share of it.
	slowBy, slowShare = 5.0, 0.25
	// settle is how much later than the queue shows an allocation may start: what was seen
	// is some seconds old when it is asked for, and schedulers go through the queue only
	// every so often.
	settle = 15 * time.Second
	// closeBy is by how much of the run the expected turnaround may be longer than the best
	// where fewer nodes do (models.md, section 2, has it of the turnaround, see closeTo).
	closeBy = 0.01
	// tightBy is by how much it may be longer where less wall time does.
	tightBy = 0.001
	// riskBy is the share of runs that less wall time need not do for.
	riskBy = 0.05
	// gainBy is by how much a further allocation must shorten it.
	gainBy = 0.02
	// never stands for an instant that is not in sight, in seconds from now: what cannot
	// go on is not done for so long.
	never = 30 * 24 * 3600
	// missBy is how much later than its free slot allows an allocation may begin before it is
	// given back: schedulers look at their queues about so often, and slots are reckoned by limits.
	missBy = 30 * time.Second
	// defaultAllocs is how many allocations are asked for at once unless the user says.
	defaultAllocs = 3
	// batchIdle is how long an allocation of a batch system waits for work by default,
	// before it is given back: others wait for its nodes.
	batchIdle = 10 * time.Second
	// weighing is how many placed tasks all simulated runs of a plan may have together.
	// What is not weighed then is what can gain least.
	weighing = 3_000_000
)

// adaptor plans a job on a batch system: paper "mr-job-adaptor", Algorithm 1, with what
// models.md, section 2 adds. It asks of every free slot what the job would make of it.
type adaptor struct {
	q        *Question
	req      *job.Request
	needs    []need
	throttle int
	size     predict.Size // of the whole job
	load     predict.Load // what is left of it
	known    known
	sample          // by which is weighed
	fine     sample // drawn when it is needed, see finely
	expect   predict.Expected
	spent    int // placed tasks, see weighing
	grain    time.Duration
	among    string // see job.Batch.Among
	live     []predict.Window
	notes    []string
}

// runKey is all that a run depends on that is alone on its nodes and has no end.
type runKey struct {
	offer *offer
	nodes int
}

func newAdaptor(q *Question) *adaptor {
	a := &adaptor{q: q, req: &q.Spec.Request, needs: needsOf(q.Spec), grain: max(q.Snap.Queue.Grain, time.Second)}
	a.size = predict.Size{Kind: q.Spec.Kind, InputBytes: q.Counts.InputBytes, Tasks: q.Counts.Tasks}
	if q.Spec.Kind == job.Bag {
		a.throttle = q.Spec.Bag.Throttle
	}
	return a
}

// note leaves a note for the user, once.
func (a *adaptor) note(what string) {
	if !slices.Contains(a.notes, what) {
		a.notes = append(a.notes, what)
	}
}

// learn sets what is left to do and what is known of it.
func (a *adaptor) learn(reduces int) {
	a.size.Reduces = reduces
	a.load = predict.Load{Maps: a.size.Tasks, Reduces: reduces}
	if r := a.q.Rest; r != nil {
		a.load = predict.Load{Maps: r.Tasks, Reduces: r.Reduces}
	}
	if a.load.Reduces == 0 {
		a.needs = a.needs[:1]
	}
	a.known = know(a.q, a.size)
	if !a.known.ok {
		return
	}
	a.expect = predict.ExpectedOf(a.known.inv)
	if a.known.guessed { // it holds no task back
		a.expect.Reduce, a.expect.Sort = 0, 0
	}
	a.sample = a.draw(4, 32, 1<<16)
}

// sample is runs of the job, by which ways to go are weighed, and what is known of them.
type sample struct {
	trials *predict.Trials
	runs   map[runKey]*predict.Alone
}

// draw returns a sample: of at least and at most so many runs, and in between as few as have
// so many tasks together.
func (a *adaptor) draw(least, most, placed int) sample {
	n := min(max(placed/max(a.load.Maps+a.load.Reduces, 1), least), most)
	t := a.newTrials(n)
	t.Expect(a.expect)
	return sample{t, map[runKey]*predict.Alone{}}
}

// finely lets f weigh by a sample of more runs, as is due to what was chosen.
func (a *adaptor) finely(f func()) {
	coarse := a.sample
	if a.fine.trials == nil {
		a.fine = a.draw(8, 128, 1<<18)
	}
	a.sample = a.fine
	f()
	a.sample = coarse
}

// slotsOf returns how many bag tasks or maps, and reduces, run at once on a worker.
func (a *adaptor) slotsOf(size job.Resources) (tasks, reduces int) {
	l := Layout{Nodes: 1, PerNode: size}
	return l.atOnce(a.q.Spec, a.needs)
}

// window returns what an allocation of so many nodes is to the job, from when its
// workers are ready until its time is over.
func (o *offer) window(nodes int, start, end float64) predict.Window {
	return predict.Window{Start: start + o.startUp, End: end, TaskSlots: nodes * o.taskSlots, ReduceSlots: nodes * o.reduceSlots}
}
