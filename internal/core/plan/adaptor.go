package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const (
	// usualStartUp is the time from the start of an allocation until its workers are ready, in seconds: the batch
	// system's launch, the worker's own start and its call to the coordinator. Where allocations of the job have
	// taken longer, the measured time is used.
	usualStartUp = 5.0
	// slowBy and slowShare bound by how much longer the start-up may take, in seconds and as a fraction of the
	// expected start-up, before the allocation is too short for the task that it was requested for.
	slowBy, slowShare = 5.0, 0.25
	// shortest is the shortest wall time that is requested, in seconds, unless less is allowed. Schedulers examine their queue every 15 s
	// or less often, and a node that was just given to a job is not ready for the next one at once; Slurm counts minutes anyway.
	shortest = 60.0
	// startDelay is how much later than the queue shows an allocation may start. The snapshot is some seconds old
	// when the request is made, and a scheduler examines its queue only at intervals.
	startDelay = 15 * time.Second
	// closeBy is the fraction of the run by which the expected turnaround may exceed the best one where fewer nodes
	// suffice (models.md, "Batch systems", row "fewer nodes"; see closeTo).
	closeBy = 0.01
	// tightBy is the fraction by which a shorter wall time may lengthen the expected turnaround.
	tightBy = 0.001
	// riskBy is the fraction of runs that may overrun a shortened wall time.
	riskBy = 0.05
	// gainBy is the fraction by which a further allocation must shorten the expected turnaround.
	gainBy = 0.02
	// horizon stands for an instant that cannot be predicted, in seconds from now: work that waits for it counts as
	// delayed by that long.
	horizon = 30 * 24 * 3600
	// startTolerance is how much later than its free slot allows an allocation may begin before it is given back.
	// Schedulers examine their queues about that often, and free slots are computed from time limits.
	startTolerance = 30 * time.Second
	// defaultAllocs is how many allocations are requested at once unless the user sets --max-allocs.
	defaultAllocs = 3
	// batchIdle is how long an idle allocation of a batch system is kept by default: other users wait for its nodes.
	batchIdle = 10 * time.Second
	// maxPlaced bounds the tasks that all simulated runs of one plan place. Candidates that are not evaluated by then
	// are those with the least possible gain.
	maxPlaced = 3_000_000
)

// adaptor plans a job on a batch system by Algorithm 1 of the paper "mr-job-adaptor", with the additions of
// models.md, "Batch systems". It predicts for every free slot the turnaround that the job would have there.
type adaptor struct {
	q        *Question
	req      *job.Request
	kinds    taskMix      // of the tasks that are not done: those of mix, then those of reduces
	mix      taskMix      // of bag tasks or maps
	reduces  taskMix      // of one kind; none: no reduce is left
	throttle int          // how many tasks may run at once
	size     predict.Size // of the whole job
	load     predict.Load // the tasks that are not done
	known    known
	sample          // by which candidates are evaluated
	fine     sample // with more runs; drawn on first use, see withFineSample
	expect   predict.Expected
	slowNode float64 // see Question.slowNode
	due      float64 // when the job should be done, in seconds from now; 0: no matter
	spent    int     // tasks placed by simulations so far, see maxPlaced
	grain    time.Duration
	among    string // see job.Batch.Among
	live     []predict.Window
	drew     []*moving // the queues that were drawn
	notes    []string
}

func newAdaptor(q *Question) *adaptor {
	a := &adaptor{q: q, req: &q.Spec.Request, due: q.dueIn(), grain: max(q.Snap.Queue.Grain, time.Second)}
	a.size = predict.Size{Kind: q.Spec.Kind, InputBytes: q.Counts.InputBytes, Tasks: q.Counts.Tasks}
	width := q.Counts.Width
	if q.Remaining != nil {
		width = q.Remaining.Width
	}
	a.throttle = throttled(q.Spec, cmp.Or(width, math.MaxInt))
	if a.setKinds(q.mix, nil); q.mix == nil {
		a.setKinds(q.tasksLeft(), reduceKind(q.Spec))
	}
	return a
}

// setKinds sets the kinds of the tasks that are not done.
func (a *adaptor) setKinds(mix, reduces taskMix) {
	a.kinds = slices.Concat(mix, reduces)
	a.mix, a.reduces = a.kinds[:len(mix)], a.kinds[len(mix):]
}

// addNote adds a note for the user, once.
func (a *adaptor) addNote(what string) {
	if !slices.Contains(a.notes, what) {
		a.notes = append(a.notes, what)
	}
}

// setLoad sets the tasks that are not done and what is known of their durations.
func (a *adaptor) setLoad(reduces int) {
	a.size.Reduces = reduces
	if r := a.q.Remaining; r != nil {
		reduces = r.Reduces
	}
	if reduces == 0 {
		a.setKinds(a.mix, nil)
	}
	for i := range a.reduces {
		a.reduces[i].tasks = reduces
	}
	a.load = predict.Load{Maps: a.mix.count(), Reduces: reduces}
	a.known = knowledgeOf(a.q, a.size, a.mix)
	a.known.shorten(a.q.Remaining)
	if !a.known.ok {
		return
	}
	a.expect, a.slowNode = predict.ExpectedOf(a.known.inv), a.q.slowNode(a.load.Maps+a.load.Reduces)
	if a.known.guessed { // a guess delays no task
		a.expect.Reduce, a.expect.Sort = 0, 0
	}
	a.sample = a.draw(4, 32, 1<<16)
}

// sample is a set of simulated runs of the job by which candidates are compared, with the runs on one allocation that
// are computed already.
type sample struct {
	trials *predict.Trials
	runs   map[predict.Window]*predict.Alone
}

// draw returns a sample of so many runs as predict.Load.Trials says.
func (a *adaptor) draw(least, most, placed int) sample {
	t := a.newTrials(a.load.Trials(least, most, placed))
	t.Expect(a.expect)
	return sample{t, map[predict.Window]*predict.Alone{}}
}

// withFineSample calls f with a sample of more runs, which is used for the chosen candidate.
func (a *adaptor) withFineSample(f func()) {
	coarse := a.sample
	if a.fine.trials == nil {
		a.fine = a.draw(8, 128, 1<<18)
	}
	a.sample = a.fine
	f()
	a.sample = coarse
}

// slotsOf returns how many bag tasks or maps, and reduces, run at once on each of so many workers.
func (a *adaptor) slotsOf(size job.Resources, workers int) (tasks, reduces slots) {
	if a.mix.fitsIn(size, workers) {
		tasks = throttled(a.q.Spec, a.mix.slotsOn(size))
	}
	if a.q.mix != nil { // of the others, tasks that come one after another
		tasks = min(tasks, slots(a.throttle))
	}
	return tasks, a.reduces.slotsOn(size)
}

// window returns the window that an allocation of that many nodes gives the job: from the moment when its workers are
// ready until its wall time ends.
func (o *offer) window(nodes int, start, end float64) predict.Window {
	return predict.Window{Start: start + o.startUp, End: end, TaskSlots: o.taskSlots.onNodes(nodes), ReduceSlots: o.reduceSlots.onNodes(nodes)}
}
