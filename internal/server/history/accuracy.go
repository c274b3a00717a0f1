package history

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Accuracy compares predictions with what happened, over all runs and for each application.
type Accuracy struct {
	Score
	Applications []AppScore `json:"applications"` // the runs of each application
}

// AppScore is the score of one application's runs.
type AppScore struct {
	App string `json:"app"` // what the application is known by in the history
	Score
}

// Score compares the predictions for some runs with what happened.
type Score struct {
	Runs   int `json:"runs"`   // runs that are done and had a predicted run time
	Below  int `json:"below"`  // ended before the lower bound
	Within int `json:"within"` // ended between the bounds
	Above  int `json:"above"`  // ended after the upper bound

	// MedianRatio and WorstRatio are the actual time divided by the upper bound. A wall time
	// that is requested by the upper bound is long enough as long as they are at most 1.
	MedianRatio float64 `json:"median_ratio"` // actual time over upper bound, median
	WorstRatio  float64 `json:"worst_ratio"`  // likewise, greatest

	Start      Errors `json:"start"`      // seconds from submission to the first attempt, where there was a queue
	Run        Errors `json:"run"`        // seconds from the first attempt to the end
	Turnaround Errors `json:"turnaround"` // seconds from submission to the end, where there was a queue
	Cost       Errors `json:"cost"`       // of rented machines that `berth front` chose, not in seconds but as their prices

	Ends EndErrors `json:"ends"` // ends of running tasks, expected when half of their time was over; errors in whole percents
	Band Band      `json:"band"` // where starts fell beside the bands of 80 % that the history of the queue predicted
}

// EndErrors sums up how far off the expected ends of running tasks were when half of their time was over, as fractions of that time. An error
// is rounded away from 0 to whole percents.
type EndErrors struct {
	Tasks     int     `json:"tasks"`            // tasks that were done whose end was expected
	MedianAbs float64 `json:"median_abs_error"` // median of the errors, without their signs, as a part of the task's time
	Mean      float64 `json:"mean_error"`       // mean of the errors; above 0: tasks took longer than expected on average
	Near      float64 `json:"near_share"`       // share of the tasks off by at most 10 % of the time that they took, 0 to 1
}

// Band is how starts fell into the bands that were predicted for them. A calibrated band has a tenth of them before it and after it, and two
// fifths in each half of it.
type Band struct {
	Starts int     `json:"starts"` // starts with a band
	Before float64 `json:"before"` // share of them before the band: 0.1 if it is calibrated
	Lower  float64 `json:"lower"`  // in it and no later than the predicted median: 0.4
	Upper  float64 `json:"upper"`  // in it and later than that, or later than it by 30 s at most: 0.4
	After  float64 `json:"after"`  // later: 0.1
}

// Errors sums up the errors of the predictions of one time. An error is the actual minus the
// predicted time in seconds; it is negative if the actual time was shorter.
type Errors struct {
	Runs      int     `json:"runs"`               // runs for which both the predicted and the actual time are known
	MeanAbs   float64 `json:"mean_abs_error_s"`   // mean of the errors, without their signs
	MedianAbs float64 `json:"median_abs_error_s"` // median of the errors, without their signs
	Mean      float64 `json:"mean_error_s"`       // mean of the errors; above 0: the actual times were longer than predicted on average
	Within    float64 `json:"within_share"`       // share of the runs within the bounds, 0 to 1
	Near      float64 `json:"near_share"`         // share of the runs off by at most 10 % of what was predicted, 0 to 1
	Worst     float64 `json:"worst_error_s"`      // the greatest error, with its sign
	WorstPred float64 `json:"worst_pred_s"`       // what was predicted for that run
	WorstRun  job.ID  `json:"worst_run"`          // the id of that run; empty: there is none
}

// startGrace is by how much the start of a run may exceed its prediction and still count as
// within its bounds, in seconds. Slurm's backfill scheduler runs every 30 s by default
// (slurm.conf, bf_interval), so no prediction of a start can be more exact.
const startGrace = 30

// Accuracy compares the predicted with the actual times of an application's runs, or of all
// runs if app is empty. A time is within its bounds in these cases:
//   - a start that is no later than predicted; it may be sooner, as jobs before it in the
//     queue may end before their limits; one that the history of the queue predicted must be
//     in its band;
//   - a run time between the bounds of its prediction;
//   - a turnaround between the lower bound of the run time and the sum of the predicted
//     wait and the upper bound of the run time;
//   - a cost that is no higher than predicted.
func (s *Store) Accuracy(ctx context.Context, app string) (Accuracy, error) {
	runs, err := s.selectRuns(ctx, `WHERE (up_s > 0 OR wait_pred_s IS NOT NULL OR cost_pred IS NOT NULL OR ends IS NOT NULL) AND (app = ?1 OR ?1 = '') ORDER BY ended_ns, id`, app)
	return accuracyOf(runs), s.wrap("cannot read the history of runs", err)
}

// Spells returns how often nodes of a type, or all if it is empty, were slow in runs that ended since then.
func (s *Store) Spells(ctx context.Context, nodeType string, since job.Time) (sum predict.Spells, err error) {
	err = s.query(ctx, `SELECT spells FROM runs WHERE spells IS NOT NULL AND (node_type = ?1 OR ?1 = '') AND ended_ns >= ?2`, []any{nodeType, int64(since)}, func(rows *sql.Rows) error {
		var of predict.Spells
		err := rows.Scan(&packed{&of})
		sum.Merge(of)
		return err
	})
	return sum, s.wrap("cannot read the history of runs", err)
}

// Slowness sums them up for people.
func (s *Store) Slowness(ctx context.Context) (predict.Slowness, error) {
	all, err := s.Spells(ctx, "", 0)
	return all.Slowness(), err
}

func accuracyOf(runs []Run) Accuracy {
	of := map[string][]Run{}
	for _, r := range runs {
		of[r.App] = append(of[r.App], r)
	}
	a := Accuracy{Score: scoreOf(runs), Applications: []AppScore{}}
	for _, app := range slices.Sorted(maps.Keys(of)) {
		if s := scoreOf(of[app]); s.Start.Runs+s.Run.Runs+s.Turnaround.Runs+s.Cost.Runs+s.Ends.Tasks > 0 {
			a.Applications = append(a.Applications, AppScore{app, s})
		}
	}
	return a
}

func scoreOf(runs []Run) Score {
	s := Score{Start: errorsOf(runs, startCase), Run: errorsOf(runs, runCase), Turnaround: errorsOf(runs, turnaroundCase), Cost: errorsOf(runs, costCase),
		Ends: endsOf(runs), Band: bandOf(runs)}
	var ratios []float64
	for _, r := range runs {
		switch v := runCase(r); {
		case v == nil:
			continue
		case v.actual < v.low:
			s.Below++
		case v.actual > v.up:
			s.Above++
		default:
			s.Within++
		}
		ratios = append(ratios, r.Actual/r.Predicted.Up)
	}
	if s.Runs = len(ratios); s.Runs > 0 {
		s.MedianRatio, s.WorstRatio = median(ratios), slices.Max(ratios)
	}
	return s
}

// endsOf sums up the errors of the expected ends of tasks, of all runs.
func endsOf(runs []Run) (e EndErrors) {
	var all predict.Ends
	for i := range runs {
		all.Merge(runs[i].Ends)
	}
	for _, x := range all {
		e.Mean += float64(x.Percent * x.Attempts)
	}
	if e.Tasks = all.Attempts(); e.Tasks > 0 {
		e.Mean, e.MedianAbs, e.Near = micros(e.Mean/float64(e.Tasks)/100), all.MedianAbs(), all.Near(100*nearBy)
	}
	return e
}

// bandOf counts where in their bands the starts were.
func bandOf(runs []Run) (b Band) {
	for _, r := range runs {
		if r.WaitLow == nil || r.WaitHigh == nil || r.Wait == nil || r.WaitPredicted == nil {
			continue
		}
		b.Starts++
		switch wait := *r.Wait; {
		case wait < *r.WaitLow:
			b.Before++
		case wait <= *r.WaitPredicted:
			b.Lower++
		case wait <= *r.WaitHigh+startGrace:
			b.Upper++
		default:
			b.After++
		}
	}
	n := float64(max(1, b.Starts))
	return Band{b.Starts, b.Before / n, b.Lower / n, b.Upper / n, b.After / n}
}

// nearBy is the part of a prediction by which a time may differ and still be near it.
const nearBy = 0.1

// comparison is a predicted and an actual time, in seconds.
type comparison struct{ predicted, low, up, actual float64 }

// startCase compares the start of a run with its prediction, nil if it has none. Runs that failed later count too.
func startCase(r Run) *comparison {
	if r.WaitPredicted == nil || r.Wait == nil {
		return nil
	}
	low, up := r.waits()
	return &comparison{predicted: *r.WaitPredicted, low: low, up: up, actual: *r.Wait}
}

// waits returns the bounds of the predicted start.
func (r *Run) waits() (low, up float64) {
	if r.WaitLow == nil || r.WaitHigh == nil {
		return 0, *r.WaitPredicted + startGrace
	}
	return *r.WaitLow, *r.WaitHigh + startGrace
}

// runCase compares the run time with its prediction: the predicted median, or the middle of
// the bounds for runs that were stored without a median.
func runCase(r Run) *comparison {
	if r.State != "done" || r.Predicted == nil || r.Predicted.Up <= 0 {
		return nil
	}
	v := &comparison{predicted: (r.Predicted.Low + r.Predicted.Up) / 2, low: r.Predicted.Low, up: r.Predicted.Up, actual: r.Actual}
	if r.Median != nil {
		v.predicted = *r.Median
	}
	return v
}

func turnaroundCase(r Run) *comparison {
	if r.State != "done" || r.TurnaroundPredicted == nil || r.Turnaround == nil {
		return nil
	}
	v := &comparison{predicted: *r.TurnaroundPredicted, up: *r.TurnaroundPredicted + startGrace, actual: *r.Turnaround}
	if r.Predicted != nil && r.WaitPredicted != nil {
		low, up := r.waits()
		v.low, v.up = low+r.Predicted.Low, up+r.Predicted.Up
	}
	return v
}

func costCase(r Run) *comparison {
	if r.State != "done" || r.CostPredicted == nil || r.Cost == nil {
		return nil
	}
	return &comparison{predicted: *r.CostPredicted, up: *r.CostPredicted, actual: *r.Cost}
}

// errorsOf sums up the errors of one time over the runs for which compare returns one.
func errorsOf(runs []Run, compare func(Run) *comparison) Errors {
	var e Errors
	var all []float64
	for _, r := range runs {
		v := compare(r)
		if v == nil {
			continue
		}
		off := v.actual - v.predicted
		abs := math.Abs(off)
		all = append(all, abs)
		e.Mean += off
		e.MeanAbs += abs
		if v.low <= v.actual && v.actual <= v.up {
			e.Within++
		}
		if abs <= nearBy*v.predicted {
			e.Near++
		}
		if e.WorstRun == "" || abs > math.Abs(e.Worst) {
			e.Worst, e.WorstPred, e.WorstRun = off, v.predicted, r.ID
		}
	}
	if e.Runs = len(all); e.Runs == 0 {
		return e
	}
	n := float64(e.Runs)
	e.Mean, e.MeanAbs, e.MedianAbs, e.Worst = micros(e.Mean/n), micros(e.MeanAbs/n), micros(median(all)), micros(e.Worst)
	e.Within, e.Near = e.Within/n, e.Near/n
	return e
}

// median returns the median of values. It sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// micros rounds seconds to whole microseconds: smaller parts are rounding errors of sums.
func micros(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
