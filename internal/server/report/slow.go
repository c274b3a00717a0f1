package report

import (
	"math"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// noteTime adds an attempt that is done, or that was ended as too slow, to those that say how often nodes are slow. A shuffle, which waits for maps,
// does not count.
func (j *Job) noteTime(r *ending) {
	seconds := 0.0
	for _, s := range r.Stats {
		if s.Phase != job.PhaseShuffle {
			seconds += s.Duration().Seconds()
		}
	}
	switch {
	case r.Slow, r.Outcome == event.Killed && r.task.pos == posDone && !r.duplicate: // another attempt was first
		seconds = math.Inf(1)
	case r.Outcome != event.Done || seconds == 0:
		return
	}
	if host := j.host(r.node); host != "" {
		j.times.Add(host, r.At.Std().Local().Hour(), j.tasks.group(r.Attempt.Task).kind, seconds)
	}
}

// Spells returns how often the job's nodes were slow.
func (j *Job) Spells() predict.Spells { return j.times.Spells() }
