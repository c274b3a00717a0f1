package store

import (
	"context"
	"maps"
	"math"
	"slices"

	"berth/internal/job"
)

// Accuracy says how well predictions were kept, over all runs and for each application.
type Accuracy struct {
	Score
	Applications []AppScore `json:"applications"` // by name
}

// AppScore is the score of one application's runs.
type AppScore struct {
	App string `json:"app"` // predict.Application
	Score
}

// Score says how well some runs kept to what was predicted for them.
type Score struct {
	Runs   int `json:"runs"`   // done, with a predicted run time
	Below  int `json:"below"`  // ended before the lower bound
	Within int `json:"within"` // ended between the bounds
	Above  int `json:"above"`  // ended after the upper bound

	// MedianRatio and WorstRatio are actual over upper bound: the request for time
	// that a prediction leads to holds while they are at most 1.
	MedianRatio float64 `json:"median_ratio"`
	WorstRatio  float64 `json:"worst_ratio"`

	Start      Errors `json:"start"`      // from submission to the first attempt, where there is a queue
	Run        Errors `json:"run"`        // from the first attempt to the end
	Turnaround Errors `json:"turnaround"` // from submission to the end, where there is a queue
}

// Errors says how far predictions of one time lay from what came: errors are actual
// minus predicted seconds, below 0 where it was sooner.
type Errors struct {
	Runs      int     `json:"runs"` // of which the time was predicted, and is known
	MeanAbs   float64 `json:"mean_abs_error_s"`
	MedianAbs float64 `json:"median_abs_error_s"`
	Mean      float64 `json:"mean_error_s"`  // with its sign: what predictions miss on the whole
	Within    float64 `json:"within_share"`  // of runs whose time lay between the bounds, 0…1
	Worst     float64 `json:"worst_error_s"` // the farthest off, with its sign
	WorstPred float64 `json:"worst_pred_s"`  // what was predicted for that run
	WorstRun  job.ID  `json:"worst_run"`     // its id; empty: there is none
}

// startGrace is how much later than predicted a run may start and still count as
// started by then, in seconds. Slurm's backfilling looks at the queue every 30 s unless
// told otherwise (slurm.conf, bf_interval): it knows no start better than that.
const startGrace = 30

// Accuracy compares predicted and actual times of an application's runs, of all
// runs if app is empty. What is in the bounds: a start no later than predicted (a queue
// moves ahead when jobs end before their limits, so that sooner is as promised); a run
// between the bounds of its prediction; a turnaround between the lower bound of the run
// and the upper one after the predicted wait.
func (s *Store) Accuracy(ctx context.Context, app string) (Accuracy, error) {
	if s == nil {
		return Accuracy{Applications: []AppScore{}}, nil
	}
	runs, err := s.selectRuns(ctx, `WHERE (up_s > 0 OR wait_pred_s IS NOT NULL) AND (app = ?1 OR ?1 = '') ORDER BY ended_ns, id`, app)
	if err != nil {
		return Accuracy{}, s.wrap("cannot read the history of runs", err)
	}
	return accuracyOf(runs), nil
}

func accuracyOf(runs []Run) Accuracy {
	of := map[string][]Run{}
	for _, r := range runs {
		of[r.App] = append(of[r.App], r)
	}
	a := Accuracy{Score: scoreOf(runs), Applications: []AppScore{}}
	for _, app := range slices.Sorted(maps.Keys(of)) {
		if s := scoreOf(of[app]); s.Start.Runs+s.Run.Runs+s.Turnaround.Runs > 0 {
			a.Applications = append(a.Applications, AppScore{app, s})
		}
	}
	return a
}

func scoreOf(runs []Run) Score {
	var s Score
	var ratios []float64
	for _, r := range runs {
		if r.State != "done" || r.Predicted == nil || r.Predicted.Up <= 0 {
			continue
		}
		s.Runs++
		switch {
		case r.Actual < r.Predicted.Low:
			s.Below++
		case r.Actual > r.Predicted.Up:
			s.Above++
		default:
			s.Within++
		}
		ratios = append(ratios, r.Actual/r.Predicted.Up)
	}
	if len(ratios) > 0 {
		s.MedianRatio, s.WorstRatio = median(ratios), slices.Max(ratios)
	}
	s.Start, s.Run, s.Turnaround = errorsOf(runs, startCase), errorsOf(runs, runCase), errorsOf(runs, turnaroundCase)
	return s
}

// verdict is a prediction beside what came, in seconds.
type verdict struct{ predicted, low, up, actual float64 }

func (v verdict) error() float64 { return v.actual - v.predicted }

// startCase judges when a run began; one that failed later counts too.
func startCase(r Run) (verdict, bool) {
	if r.WaitPredicted == nil || r.Wait == nil {
		return verdict{}, false
	}
	return verdict{predicted: *r.WaitPredicted, up: *r.WaitPredicted + startGrace, actual: *r.Wait}, true
}

// runCase judges how long a run took. The prediction is the median of such runs; of runs
// that were stored without it, the middle of the bounds.
func runCase(r Run) (verdict, bool) {
	if r.State != "done" || r.Predicted == nil || r.Predicted.Up <= 0 {
		return verdict{}, false
	}
	v := verdict{predicted: (r.Predicted.Low + r.Predicted.Up) / 2, low: r.Predicted.Low, up: r.Predicted.Up, actual: r.Actual}
	if r.Median != nil {
		v.predicted = *r.Median
	}
	return v, true
}

func turnaroundCase(r Run) (verdict, bool) {
	if r.State != "done" || r.TurnaroundPredicted == nil || r.Turnaround == nil {
		return verdict{}, false
	}
	v := verdict{predicted: *r.TurnaroundPredicted, up: *r.TurnaroundPredicted + startGrace, actual: *r.Turnaround}
	if r.Predicted != nil && r.WaitPredicted != nil {
		v.low, v.up = r.Predicted.Low, *r.WaitPredicted+startGrace+r.Predicted.Up
	}
	return v, true
}

// errorsOf sums up the errors of one time over the runs of which it can be judged.
func errorsOf(runs []Run, judge func(Run) (verdict, bool)) Errors {
	var e Errors
	var abs []float64
	within := 0
	for _, r := range runs {
		v, ok := judge(r)
		if !ok {
			continue
		}
		abs = append(abs, math.Abs(v.error()))
		e.Mean += v.error()
		e.MeanAbs += math.Abs(v.error())
		if v.low <= v.actual && v.actual <= v.up {
			within++
		}
		if e.WorstRun == "" || math.Abs(v.error()) > math.Abs(e.Worst) {
			e.Worst, e.WorstPred, e.WorstRun = v.error(), v.predicted, r.ID
		}
	}
	if e.Runs = len(abs); e.Runs == 0 {
		return e
	}
	n := float64(e.Runs)
	e.Mean, e.MeanAbs, e.MedianAbs, e.Within = micros(e.Mean/n), micros(e.MeanAbs/n), micros(median(abs)), float64(within)/n
	e.Worst = micros(e.Worst)
	return e
}

// median returns the median of some values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// micros rounds seconds to a whole microsecond: what lies below is rounding of sums.
func micros(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
