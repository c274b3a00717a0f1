package report

import (
	"berth/internal/event"
	"berth/internal/job"
)

// expect says when the job will be over. One in the queue: once its nodes are expected
// to be there and the prediction's upper bound has passed. One that runs: see
// expectRunning; while it stands, as all its allocations are over and the next one waits in
// the queue, what was left then is still left when that one begins.
func (j *Job) expect(v *JobView, until, now job.Time) {
	switch j.state {
	case event.StateQueued:
		if in, known := j.startsIn(v, now); known && j.info.Predicted != nil {
			v.EtaS, v.EtaFrom = new(round(in+j.info.Predicted.UpSeconds)), EtaFromPrediction
		}
	case event.StateRunning:
		j.expectRunning(v, until)
		if j.stands(v) {
			v.delay(j.startsIn(v, now))
		}
	}
}

// expectRunning goes by the phase that takes a bag's time, or the last phase of all.
// While its end is not known the prediction's upper bound stands in, if there is one
// and it has not passed.
func (j *Job) expectRunning(v *JobView, now job.Time) {
	for _, p := range v.Phases {
		switch p.Phase {
		case job.PhaseCompute.String(), job.PhaseReduce.String():
			v.EtaS, v.EtaFrom = p.EtaS, EtaFromRate
		case job.PhaseMap.String():
			if j.work.Reduces == 0 {
				v.EtaS, v.EtaFrom = p.EtaS, EtaFromRate
			}
		}
	}
	if v.EtaS != nil {
		return
	}
	v.EtaFrom = ""
	if p := j.info.Predicted; p != nil && j.runStarted != 0 {
		if rest := round(p.UpSeconds - now.Sub(j.runStarted).Seconds()); rest > 0 {
			v.EtaS, v.EtaFrom = &rest, EtaFromPrediction
		}
	}
}

// stands reports whether nothing of a job that has begun runs, nor can, until an
// allocation begins that waits in the queue.
func (j *Job) stands(v *JobView) bool {
	if j.state != event.StateRunning || len(j.live) > 0 || v.Waits == nil || j.lastEnd == 0 {
		return false
	}
	for _, a := range v.Allocs {
		if a.Up > 0 {
			return false
		}
	}
	return true
}

// delay moves all expected ends by some seconds; what waits for a time that is not known
// is not known.
func (v *JobView) delay(seconds float64, known bool) {
	ends := []**float64{&v.EtaS}
	for i := range v.Phases {
		ends = append(ends, &v.Phases[i].EtaS)
	}
	for _, end := range ends {
		switch {
		case *end == nil || **end == 0:
		case known:
			*end = new(round(**end + seconds))
		default:
			*end = nil
		}
	}
	if v.EtaS == nil {
		v.EtaFrom = ""
	}
}
