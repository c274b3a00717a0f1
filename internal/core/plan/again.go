package plan

import (
	"cmp"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Retry is the delay after which a plan is tried again when it failed for a reason that may pass, for example a batch
// system that does not answer.
const Retry = 30 * time.Second

// Work returns the engine's view of a planned job.
func Work(spec *job.Spec, p Plan) job.Work {
	w := job.Work{ID: spec.ID, Name: spec.Name, Kind: spec.Kind, Tasks: p.Tasks, Terms: spec.Terms(), Alloc: p.Alloc, Followup: p.Followup, Demands: p.demands(), Curves: p.Curves, Memory: p.Memory, After: spec.After}
	if spec.Kind == job.Bag {
		w.Open, w.Shares, w.Further, w.Which = spec.Bag.Open, spec.Bag.Shares(), p.Further, p.Which
	} else {
		w.Reduces, w.SlowStart = p.Reduces, spec.MapReduce.SlowStart
	}
	return w
}

// Again returns the question by which the rest of a job is planned that was submitted, or resumed, by the first plan.
// measured is what this run has measured. The job's size and its partitions are those of the first plan: allocations
// in another partition would not serve the job.
func (q Question) Again(first Plan, measured predict.Measures) Question {
	spec := *q.Spec
	spec.Request.Partition = first.Alloc.Batch.Partitions()
	spec.Request.StartWithin = 0 // the engine knows how long the job has waited
	tasks := samples(measured, first.Kind)
	q.Spec, q.Counts.Tasks, q.Counts.InputBytes = &spec, first.Tasks, first.InputBytes
	if q.Remaining != nil { // an open bag has grown since
		q.Counts.Tasks = max(q.Counts.Tasks, tasks+q.Remaining.Tasks)
	}
	if tasks == 0 {
		return q
	}
	size := predict.Size{Kind: first.Kind, Tasks: tasks, Reduces: int(measured.Get(predict.ReduceTask).Time.Count)}
	if first.Tasks > 0 {
		size.InputBytes = first.InputBytes * int64(tasks) / int64(first.Tasks)
	}
	q.Measured = &predict.Profile{App: first.App, NodeType: first.NodeType}
	q.Measured.AddRun(size, q.Now, measured)
	return q
}

// Measured returns what a run has measured of bag tasks with the same needs, for Own.
func Measured(m predict.Measures) *predict.Profile {
	p := &predict.Profile{}
	if n := samples(m, job.Bag); n > 0 {
		p.AddRun(predict.Size{Kind: job.Bag, Tasks: n}, 0, m)
	}
	return p
}

// Answer returns the engine's input for a plan of the rest of a job, or for the error that prevented it. An error
// that only the user can mend ends the job; for any other the plan is tried again after Retry.
func Answer(now job.Time, p Plan, err error) job.Answer {
	if err != nil {
		a := job.Answer{Failed: err.Error()}
		if job.ClassOf(err) != job.User {
			a.Retry = now.Add(Retry)
		}
		return a
	}
	a := job.Answer{Allocs: p.Requests(), Scout: p.Scout, TaskTimes: p.TaskTimes, Decision: p.Decision()}
	if t := p.Turnaround(); t != nil {
		a.Turnaround = job.Turnaround{Low: asDuration(t.Low), Up: asDuration(t.Up), Mean: asDuration(p.Outlook.Turnaround)}
	}
	return a
}

// Serves reports whether an idle allocation can serve a job that is planned for that cluster, because it was
// requested with the same terms as the job's own would be (engine, pools). A job whose number of nodes or wall time
// the user fixed gets its own allocations.
func Serves(snap *cluster.Snapshot, spec *job.Spec, req job.AllocRequest) bool {
	r := &spec.Request
	if r.MinNodes > 0 || r.WallTime == job.WallMax {
		return false
	}
	own := r.Batch(cmp.Or(r.Partition, snap.Queue.DefaultPartition()))
	own.Cluster = snap.Queue.ID
	return req.On == snap.Driver && req.Scratch == r.Scratch && req.Batch.Key() == own.Key() && gives(snap, spec, req)
}
