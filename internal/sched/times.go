package sched

import (
	"fmt"
	"time"

	"berth/internal/predict"
)

const (
	// enough is how many tasks show what a task takes: the mean of five is within half
	// of their standard deviation of the true one.
	enough = 5
	// usual is the quantile of the measured times that a task is expected to keep within.
	usual = 0.95
)

// Times is what is known of how long the tasks of one kind of a job take; of reduces their sort
// and reduce, as a shuffle takes no core and lasts as long as the maps do.
type Times struct {
	Planned time.Duration // the mean, by the plan; 0: unknown
	Hint    time.Duration // what most tasks keep within, by the plan; 0: unknown
	Most    time.Duration // see event.JobPlanned; 0: it does not matter
	Longest time.Duration // that a task had run when its allocation ended, of those that were cut short; 0: none was
	Cuts    int           // tasks that were cut short and are not done
	Done    int64         // tasks that this run has measured …
	Took    float64       // … and the seconds that they took together

	sketch *predict.Sketch // of what they took, where that matters
	next   int64           // number of tasks at which the quantile is computed anew
	usual  time.Duration   // the quantile; 0: not yet
}

// String returns the times as text that differs where they do.
func (t *Times) String() string {
	s := fmt.Sprintf("planned %v hint %v longest %v cuts %d most %v done %d took %v", t.Planned, t.Hint, t.Longest, t.Cuts, t.Most, t.Done, t.Took)
	if t.sketch != nil {
		s += fmt.Sprintf(" measured %d sum %v usual %v", t.sketch.Count, t.sketch.Sum, t.usual)
	}
	return s
}

// Expected returns how long a task takes at most, as a rule; 0: unknown.
func (t *Times) Expected() time.Duration {
	switch {
	case t.usual > 0:
		return t.usual
	case t.Hint > 0:
		return t.Hint
	}
	return t.Longest // so long at least
}

// Add takes in what a task took. Where ends is false no allocation ends, and nobody asks what a
// task takes at most.
func (t *Times) Add(d time.Duration, ends bool) {
	t.Done++
	t.Took += d.Seconds()
	if !ends {
		return
	}
	if t.sketch == nil {
		t.sketch, t.next = new(predict.Sketch), enough
	}
	t.sketch.Add(d.Seconds())
	if t.sketch.Count >= t.next {
		t.usual = time.Duration(t.sketch.Quantile(usual) * float64(time.Second))
		t.next = t.sketch.Count + 1 + t.sketch.Count/16 // it changes ever less
	}
}

// Span returns how much time must be left where a task begins. cut says that it was cut short before.
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

// Mean returns how long a task is expected to take.
func (t *Times) Mean() time.Duration { return time.Duration(t.mean() * float64(time.Second)) }

// Known returns how long a task is expected to take, 0 where neither a plan nor a measurement says so.
func (t *Times) Known() time.Duration {
	if t.Planned == 0 && t.Done == 0 {
		return 0
	}
	return t.Mean()
}

// mean returns the seconds that a task is expected to take: the mean of what was measured
// and of what was known before, the latter counting as some tasks more.
func (t *Times) mean() float64 {
	prior, weight := t.Planned, float64(planWeight)
	if prior <= 0 {
		prior, weight = max(guess, t.Longest), guessWeight
	}
	// The conversion keeps processors from fusing the operations, which round differently.
	return (float64(prior.Seconds()*weight) + t.Took) / (weight + float64(t.Done))
}
