package sched

import (
	"time"

	"berth/internal/core/predict"
)

const (
	// enough is the number of tasks after which their times are used: the mean of five is within half
	// of their standard deviation of the true mean.
	enough = 5
	// usual is the quantile of the measured times that is expected to suffice for a task.
	usual = 0.95
	// beside is how many times as many tasks must be measured as compute. Of tasks that begin together the shortest end first, so the first that
	// were measured say too little about the others.
	beside = 4
)

// Times is what is known about how long the tasks of one kind of a job take. For reduces it covers sort
// and reduce, as a shuffle needs no core and lasts as long as the maps do.
type Times struct {
	Planned time.Duration // mean by the plan; 0: unknown
	Hint    time.Duration // time that suffices for most tasks by the plan; 0: unknown
	Most    time.Duration // see event.JobPlanned; 0: no limit
	Longest time.Duration // longest time that a task had run when its allocation ended; 0: none was cut short
	Cuts    int           // tasks that were cut short by the end of an allocation and are not done
	Done    int64         // tasks that this run has measured …
	Took    float64       // … and the sum of their times in seconds

	sketch *predict.Sketch // of the measured times, if allocations end
	next   int64           // number of tasks at which the quantile is computed again
	usual  time.Duration   // the quantile; 0: not computed yet
	early  bool            // too few were measured beside those that compute
}

// Expected returns the time that suffices for most tasks; 0: unknown.
func (t *Times) Expected() time.Duration {
	switch {
	case t.usual > 0 && t.early:
		return max(t.usual, t.Hint)
	case t.usual > 0:
		return t.usual
	case t.Hint > 0:
		return t.Hint
	}
	return t.Longest // a lower bound
}

// Upper returns the time that most tasks do not exceed; 0: unknown.
func (t *Times) Upper() time.Duration {
	if t.usual == 0 && t.Hint == 0 {
		return 0
	}
	return t.Expected()
}

// Add adds the time of a task, beside which others compute. If ends is false no allocation ends, and the quantile is not
// needed.
func (t *Times) Add(d time.Duration, computing int, ends bool) {
	t.Done++
	t.Took += d.Seconds()
	t.early = t.Done < int64(beside*computing)
	if !ends {
		return
	}
	if t.sketch == nil {
		t.sketch, t.next = new(predict.Sketch), enough
	}
	t.sketch.Add(d.Seconds())
	if t.sketch.Count >= t.next {
		t.usual = time.Duration(t.sketch.Quantile(usual) * float64(time.Second))
		t.next = t.sketch.Count + 1 + t.sketch.Count/16 // the quantile changes less with each task
	}
}

// Span returns how much time must be left where a task starts. cut says that the task was cut short before.
func (t *Times) Span(cut bool) time.Duration {
	d := t.Expected()
	if cut {
		d = max(d, t.Longest)
	}
	if s := Span(d); t.Most == 0 || s <= t.Most {
		return s
	}
	return t.Most / 2
}

// Mean returns the expected time of a task.
func (t *Times) Mean() time.Duration { return time.Duration(t.mean() * float64(time.Second)) }

// Known returns the expected time of a task, 0 if there is neither a plan nor a measurement.
func (t *Times) Known() time.Duration {
	if t.Planned == 0 && t.Done == 0 {
		return 0
	}
	return t.Mean()
}

// Measured returns the mean of the measured times, false if they are too few.
func (t *Times) Measured() (mean time.Duration, ok bool) {
	return time.Duration(t.Took / float64(max(t.Done, 1)) * float64(time.Second)), t.Done >= enough
}

// mean returns the expected seconds of a task: the mean of the measured times and of the prior
// mean, which weighs like some tasks.
func (t *Times) mean() float64 {
	prior, weight := t.Planned, float64(planWeight)
	if prior <= 0 {
		prior, weight = max(guess, t.Longest), guessWeight
	}
	// The conversion keeps processors from fusing the operations, which round differently.
	return (float64(prior.Seconds()*weight) + t.Took) / (weight + float64(t.Done))
}
