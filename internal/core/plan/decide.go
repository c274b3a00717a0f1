package plan

import (
	"fmt"
	"hash/fnv"
	"math"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Decide plans a job for the snapshot's backend: one machine, or a batch system. Errors that the user can mend have
// class job.User.
func Decide(q Question) (Plan, error) {
	decide := decideMachine
	if q.Snap.Queue != nil {
		decide = decideBatch
	}
	p, err := decide(&q)
	if err == nil {
		p.expectSlowNodes(&q)
		p.judgeDeadline(&q)
	}
	return p, err
}

func isOpen(spec *job.Spec) bool { return spec.Bag != nil && spec.Bag.Open }

// leaveOpen takes the prediction of an open bag back, as nobody knows how many tasks will be added to it. What single tasks are
// expected to take stays.
func (p *Plan) leaveOpen(spec *job.Spec) {
	if isOpen(spec) {
		p.Predicted, p.Source = nil, "tasks can be added to it"
	}
}

// decideMachine plans a job on one machine.
func decideMachine(q *Question) (Plan, error) {
	spec := q.Spec
	mix := q.tasksLeft()
	all := knowledgeOf(q, predict.Size{Kind: spec.Kind, Tasks: q.Counts.Tasks}, mix)
	l, err := divideMachine(q.Snap, spec, mix)
	if err != nil {
		return Plan{}, err
	}
	p, why := q.planReduces(&l)
	p.Notes = append(p.Notes, l.notes...)
	p.Alloc = job.AllocRequest{
		On: q.Snap.Driver, Nodes: l.Nodes, PerNode: l.PerNode,
		Time:        spec.Request.MaxTime, // one machine has no queue: only the user limits the time
		IdleTimeout: spec.Request.IdleTimeout, SortMemory: l.SortMemory, Scratch: spec.Request.Scratch, Rates: spec.Request.Rates,
	}
	p.Alloc.Remote = spec.Request.Remote.First(l.Nodes)
	if !spec.Request.Remote.Away() {
		p.Alloc.Only = q.Snap.Nodes[0].Only
	}
	p.setLeft(q.Remaining)
	if p.Left == nil || *p.Left != (Left{}) {
		if prof := nearProfile(q.Profile, p.size()); q.Own != nil && all.ok {
			p.predictFrom(l, all)
		} else {
			p.predict(l, prof)
		}
		p.leaveOpen(spec)
	}
	if left := p.plannedPart(); left.Tasks+left.Reduces == 0 && (p.Left != nil || isOpen(spec)) {
		p.Reasons = append(p.Reasons, nothingLeft(spec))
	} else {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%s × %s: %s", job.Count(p.Alloc.Nodes, "node"), p.Alloc.PerNode.Cores(), p.summary()))
	}
	p.Reasons = append(p.Reasons, mix.gangsAtOnce(min(l.TaskSlots, p.plannedPart().Tasks), l.Nodes, l.cores)...)
	if why != "" {
		p.Reasons = append(p.Reasons, why)
	}
	p.setMix(mix)
	if spec.Kind == job.MapReduce {
		p.Reasons = append(p.Reasons, sortReason(l, &spec.Request))
	}
	if limit := spec.Request.MaxTime.Seconds(); limit > 0 && p.Predicted != nil && p.Predicted.Up > limit {
		p.Notes = append(p.Notes, fmt.Sprintf("the time limit of %s may be too short: the job is predicted to take %s",
			duration(limit), formatInterval(p.Predicted.Interval)))
	}
	return p, nil
}

// planReduces returns a plan in which only the number of reduces is decided, and the reason of that number.
func (q *Question) planReduces(l *Layout) (p Plan, why string) {
	p = Plan{
		At: q.Now, App: predict.Application(q.Spec), Kind: q.Spec.Kind, Tasks: q.Counts.Tasks, InputBytes: q.Counts.InputBytes,
		TaskSlots: l.TaskSlots, ReduceSlots: l.ReduceSlots, Reasons: []string{}, Notes: []string{},
	}
	why = p.reduces(q.Spec, nearProfile(q.Profile, p.size()))
	if prof := nearProfile(q.Profile, p.size()); prof != nil {
		p.Demands, p.Curves = demandsOf(prof), prof.Measures.Curves()
		if b := q.Spec.Bag; b != nil && (b.AutoMem || b.MaxMem > 0 || b.Open || b.NeedsFrom != nil) {
			p.Memory = prof.Measures.Get(predict.BagTask).LastMemory()
		}
	}
	return p, why
}

// size returns the size of the job as far as it is decided.
func (p *Plan) size() predict.Size {
	return predict.Size{Kind: p.Kind, InputBytes: p.InputBytes, Tasks: p.Tasks, Reduces: p.Reduces}
}

// nearProfile returns the part of a profile with runs of about that size; nil without a profile.
func nearProfile(prof *predict.Profile, size predict.Size) *predict.Profile {
	if prof == nil {
		return nil
	}
	return prof.Near(size)
}

// bytesPerReduce is the least data for which a further reduce is started. Starting one costs some milliseconds and
// one more part file; a streaming reducer takes a good part of a second for that much data.
const bytesPerReduce = 16 << 20

// reduces sets the number of reduces and returns the reason. Where the user left it open it is 1 for little data, as
// Hadoop's default, and otherwise as many as can run at once, each with at least bytesPerReduce. More than one wave
// gains nothing on one machine, because all reduces start with the same shuffle.
func (p *Plan) reduces(spec *job.Spec, prof *predict.Profile) (why string) {
	if spec.Kind != job.MapReduce {
		return ""
	}
	if p.Reduces = spec.MapReduce.Reduces; p.Reduces >= 0 {
		return ""
	}
	data, basis := float64(p.InputBytes), "the size of the input"
	if prof != nil && prof.ReduceSelectivity() > 0 {
		data, basis = prof.ReduceBytes(p.InputBytes), "by its profile"
	}
	p.Reduces = int(min(max(1, math.Floor(data/bytesPerReduce)), float64(p.ReduceSlots)))
	cause := "as many as can run at once"
	if p.Reduces < p.ReduceSlots {
		cause = fmt.Sprintf("one for every %s", job.FormatSize(bytesPerReduce))
	}
	if p.Reduces == 1 && p.ReduceSlots > 1 {
		cause = "too little for a second one"
	}
	return fmt.Sprintf("%s for about %s to reduce (%s): %s", job.Count(p.Reduces, "reduce"), job.FormatSize(int64(data)), basis, cause)
}

// predict sets the prediction and its source.
func (p *Plan) predict(l Layout, prof *predict.Profile) {
	if prof == nil {
		p.Source = "no profile of this application yet"
		return
	}
	size := p.size()
	p.Source = source(prof, size)
	inv, ok := prof.Invariants(size)
	if !ok {
		p.Source += ", in which not every stage of this job was measured"
		return
	}
	p.predictFrom(l, known{inv: inv, runs: prof.Runs, source: p.Source})
}

// predictFrom sets the prediction and its source by what is known of the tasks.
func (p *Plan) predictFrom(l Layout, k known) {
	left := p.plannedPart()
	shape := predict.Shape{
		Maps: left.Tasks, Reduces: left.Reduces,
		MapSlots:    predict.Slots{Count: l.TaskSlots, Speed: l.Speed},
		ReduceSlots: predict.Slots{Count: l.ReduceSlots, Speed: l.Speed},
	}
	p.setMeans(k.inv)
	p.Source = k.source
	e := predict.Bounds(k.inv, shape).Spread(k.runs)
	q := predict.Quantiles(k.inv, shape, seedOf(p.App), 0.05, 0.5, 0.95)
	p.Predicted = &Prediction{Interval: roundInterval(predict.Interval{Low: q[0], Up: q[2]}), Median: micros(q[1]), P95: micros(q[2]), Stages: p.stages(e)}
	p.Predicted.widen(roundInterval(e.Total()))
}

// stages returns the stages of the job, in order, with their bounds.
func (p *Plan) stages(e predict.Estimate) []Stage {
	if p.Kind == job.Bag {
		return []Stage{{"tasks", roundInterval(e.Map)}}
	}
	stages := []Stage{{"map", roundInterval(e.Map)}}
	if p.plannedPart().Reduces > 0 {
		stages = append(stages, Stage{"first-shuffle", roundInterval(e.FirstShuffle)},
			Stage{"other-shuffle", roundInterval(e.OtherShuffle)}, Stage{"reduce", roundInterval(e.Reduce)})
	}
	return stages
}

// seedOf derives the seed of the simulated runs from the application, so that the same question gives the same plan.
func seedOf(app string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(app)) // never fails
	return h.Sum64()
}

// micros rounds seconds to whole microseconds: smaller differences are rounding errors of sums.
func micros(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

func roundInterval(i predict.Interval) predict.Interval {
	return predict.Interval{Low: micros(i.Low), Up: micros(i.Up)}
}
