package report

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// expect sets the expected end of the job. A job in the queue is expected to end when its nodes have started
// and the upper bound of the predicted run time has passed. For a running job see expectRunning. If a running
// job is stalled, because all its allocations are over and the next one is in the queue, its expected end is
// delayed by the wait for that one.
func (j *Job) expect(v *JobView, until, now job.Time) {
	switch j.state {
	case event.StateQueued:
		if in, known := j.startsIn(v, now); known && j.info.Predicted != nil {
			v.EtaS, v.EtaFrom = new(round(in+j.info.Predicted.UpSeconds)), EtaFromPrediction
		}
	case event.StateRunning:
		j.expectRunning(v, until)
		if j.stalled(v) {
			v.delay(j.startsIn(v, now))
		}
	}
}

// slack sets how long before its deadline the job is expected to end, or was done.
func (j *Job) slack(v *JobView, now job.Time) {
	end, due := now, j.work.Due
	if v.Deadline = stamp(due); due == 0 {
		return
	}
	switch {
	case j.state == event.StateDone:
		end = j.ended
	case v.EtaS != nil && !j.state.Final():
		end = now.Add(job.Seconds(*v.EtaS))
	case now < due || j.state.Final():
		return
	}
	v.SlackS = new(round(due.Sub(end).Seconds()))
}

// expectRunning sets the expected end of a running job to that of the phase compute of a bag, or of the last
// phase. As long as that is unknown, it is the upper bound of the prediction, if that has not passed.
func (j *Job) expectRunning(v *JobView, now job.Time) {
	for _, p := range v.Phases {
		if of := job.PhaseNamed(p.Phase); of.Main() && (of.Kind() != job.MapTask || j.work.Reduces == 0) {
			v.EtaS, v.EtaFrom, v.EtaAtLimit = p.EtaS, EtaFromRate, p.AtLimit
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

// stalled reports whether nothing of a job that has started runs or can run before an allocation in the
// queue starts.
func (j *Job) stalled(v *JobView) bool {
	return j.state == event.StateRunning && len(j.sent) == 0 && v.Waits != nil && j.lastEnd != 0 && !slices.ContainsFunc(v.Allocs, AllocView.works)
}

// delay moves all expected ends by some seconds. If the delay is unknown, the ends are unknown too.
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
