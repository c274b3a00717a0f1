package history

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

func TestAccuracy(t *testing.T) {
	s := mustOpen(t, newPath(t))
	for i, actual := range []float64{5, 10, 15, 20, 40} { // predicted 10–20
		r := aRun(job.ID(fmt.Sprintf("bag-%d", i)), i)
		r.Predicted, r.Actual = &predict.Interval{Low: 10, Up: 20}, actual
		save(t, s, r, nil)
	}
	failed, blind, other := aRun("failed", 6), aRun("blind", 7), aRun("other", 8)
	failed.State, failed.Predicted = "failed", &predict.Interval{Low: 10, Up: 20}
	other.App, other.Predicted, other.Actual = "other-1", &predict.Interval{Low: 10, Up: 20}, 60
	for _, r := range []Run{failed, blind, other} {
		save(t, s, r, nil)
	}
	sim := Score{Runs: 5, Below: 1, Within: 3, Above: 1, MedianRatio: 0.75, WorstRatio: 2,
		Run: Errors{Runs: 5, MeanAbs: 9, MedianAbs: 5, Mean: 3, Within: 0.6, Near: 0.2, Worst: 25, WorstPred: 15, WorstRun: "bag-4"}}
	others := Score{Runs: 1, Above: 1, MedianRatio: 3, WorstRatio: 3,
		Run: Errors{Runs: 1, MeanAbs: 45, MedianAbs: 45, Mean: 45, Worst: 45, WorstPred: 15, WorstRun: "other"}}
	checkAccuracy(t, s, "sim-1", Accuracy{sim, []AppScore{{"sim-1", sim}}})
	checkAccuracy(t, s, "", Accuracy{Score{Runs: 6, Below: 1, Within: 3, Above: 2, MedianRatio: 0.875, WorstRatio: 3,
		Run: Errors{Runs: 6, MeanAbs: 15, MedianAbs: 7.5, Mean: 10, Within: 0.5, Near: 1. / 6, Worst: 45, WorstPred: 15, WorstRun: "other"}},
		[]AppScore{{"other-1", others}, {"sim-1", sim}}})
	checkAccuracy(t, s, "none", Accuracy{Applications: []AppScore{}})
}

func checkAccuracy(t *testing.T, s *Store, app string, want Accuracy) {
	t.Helper()
	got, err := s.Accuracy(t.Context(), app)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("of %q:\ngot  %+v, %v\nwant %+v", app, got, err, want)
	}
}

// TestAccuracyOfTheQueue: predicted and actual start and turnaround.
func TestAccuracyOfTheQueue(t *testing.T) {
	run := func(id job.ID, state event.State, wait, waited float64) Run {
		r := aRun(id, 1)
		r.State, r.WaitPredicted, r.Wait = state, ptr(wait), ptr(waited)
		return r
	}
	sooner := run("sooner", "done", 100, 20) // a queue that moved ahead: within
	sooner.Predicted, sooner.Median, sooner.Actual = &predict.Interval{Low: 50, Up: 90}, ptr(60), 80
	sooner.TurnaroundPredicted, sooner.Turnaround = ptr(165), ptr(100)
	grace := run("grace", "failed", 0, 30) // as late as Slurm may look at its queue; its end is not judged
	grace.TurnaroundPredicted = ptr(60)
	late := run("late", "done", 0, 31)
	late.TurnaroundPredicted, late.Turnaround = ptr(10), ptr(41) // no bounds were stored: its own is one
	waits := aRun("waits", 2)                                    // cancelled before it began
	waits.State, waits.WaitPredicted = "cancelled", ptr(5)

	a := accuracyOf([]Run{sooner, grace, late, waits})
	want := Score{Runs: 1, Within: 1, MedianRatio: 80. / 90, WorstRatio: 80. / 90,
		Start:      Errors{Runs: 3, MeanAbs: 47, MedianAbs: 31, Mean: micros(-19. / 3), Within: 2. / 3, Worst: -80, WorstPred: 100, WorstRun: "sooner"},
		Run:        Errors{Runs: 1, MeanAbs: 20, MedianAbs: 20, Mean: 20, Within: 1, Worst: 20, WorstPred: 60, WorstRun: "sooner"},
		Turnaround: Errors{Runs: 2, MeanAbs: 48, MedianAbs: 48, Mean: -17, Within: 0.5, Worst: -65, WorstPred: 165, WorstRun: "sooner"},
	}
	if !reflect.DeepEqual(a.Score, want) {
		t.Errorf("got\n%+v\nwant\n%+v", a.Score, want)
	}
	if len(a.Applications) != 1 || a.Applications[0].App != "sim-1" {
		t.Errorf("applications: %+v", a.Applications)
	}
}

// TestAccuracyOfBands: a start that the history of the queue predicted is within its bounds only in its band, sooner ones are not.
func TestAccuracyOfBands(t *testing.T) {
	var runs []Run
	for i, waited := range []float64{4, 15, 90, 131} { // too soon, within, within, later than the band and the grace
		r := aRun(job.ID(fmt.Sprint("bag-", i)), i)
		r.State, r.WaitPredicted, r.Wait = "done", ptr(50.), ptr(waited)
		r.WaitLow, r.WaitHigh = ptr(10.), ptr(100.)
		r.Predicted, r.Actual = &predict.Interval{Low: 20, Up: 30}, 25
		r.TurnaroundPredicted, r.Turnaround = ptr(75.), ptr(waited+25)
		runs = append(runs, r)
	}
	a := accuracyOf(runs)
	if a.Start.Within != 0.5 || a.Start.Runs != 4 {
		t.Errorf("start: %+v", a.Start)
	}
	if want := (Band{Starts: 4, Before: 0.25, Lower: 0.25, Upper: 0.25, After: 0.25}); a.Band != want {
		t.Errorf("band: %+v", a.Band)
	}
	if a.Turnaround.Within != 0.75 { // 30 to 160 s
		t.Errorf("turnaround: %+v", a.Turnaround)
	}
}

// TestAccuracyOfCost: what rented machines cost is compared with what was predicted, over runs that are done: within the bounds is
// what costs no more, and near is what is off by a tenth at most. It is stored with the run.
func TestAccuracyOfCost(t *testing.T) {
	s := mustOpen(t, newPath(t))
	for i, cost := range []float64{8, 9, 11, 14, 3} {
		r := aRun(job.ID(fmt.Sprint("bag-", i)), i)
		r.CostPredicted, r.Cost = ptr(10), ptr(cost)
		if i == 4 {
			r.State = "failed"
		}
		save(t, s, r, nil)
	}
	unknown := aRun("bag-9", 9)
	unknown.Cost = ptr(7)
	save(t, s, unknown, nil)
	want := Score{Cost: Errors{Runs: 4, MeanAbs: 2, MedianAbs: 1.5, Mean: 0.5, Within: 0.5, Near: 0.5, Worst: 4, WorstPred: 10, WorstRun: "bag-3"}}
	checkAccuracy(t, s, "", Accuracy{want, []AppScore{{"sim-1", want}}})
}

// TestAccuracyOfEnds: the ends that were expected of running tasks are stored with the run and counted by tasks, whatever the state of the run:
// the median and those off by a tenth at most. A forgotten run counts no more.
func TestAccuracyOfEnds(t *testing.T) {
	s := mustOpen(t, newPath(t))
	first, second := aRun("bag-1", 1), aRun("bag-2", 2)
	first.Ends = predict.Ends{{Percent: -12, Attempts: 1}, {Percent: 2, Attempts: 3}}
	second.Ends, second.State = predict.Ends{{Percent: -3, Attempts: 2}, {Percent: 10, Attempts: 3}, {Percent: 60, Attempts: 1}}, "failed"
	save(t, s, first, nil)
	save(t, s, second, nil)
	if r, ok, err := s.Run(t.Context(), "bag-1"); err != nil || !ok || !reflect.DeepEqual(r, first) {
		t.Errorf("got %+v, %v, %v; want %+v", r, ok, err, first)
	}
	want := Score{Ends: EndErrors{Tasks: 10, MedianAbs: 0.03, Mean: 0.078, Near: 0.8}}
	checkAccuracy(t, s, "", Accuracy{want, []AppScore{{"sim-1", want}}})
	if err := s.ForgetRun(t.Context(), "bag-2"); err != nil {
		t.Fatal(err)
	}
	want = Score{Ends: EndErrors{Tasks: 4, MedianAbs: 0.02, Mean: -0.015, Near: 0.75}}
	checkAccuracy(t, s, "", Accuracy{want, []AppScore{{"sim-1", want}}})
}

// TestAccuracyAddsUp: the total counts what the applications count, the order of runs
// plays no part, and no error is beyond the worst.
func TestAccuracyAddsUp(t *testing.T) {
	times := rapid.Float64Range(0, 1e6)
	rapid.Check(t, func(t *rapid.T) {
		var runs []Run
		for i := range rapid.IntRange(0, 12).Draw(t, "runs") {
			r := aRun(job.ID(fmt.Sprintf("bag-%d", i)), i)
			r.App = rapid.SampledFrom([]string{"a-1", "b-2"}).Draw(t, "app")
			r.State = rapid.SampledFrom([]event.State{"done", "done", "failed"}).Draw(t, "state")
			if rapid.Bool().Draw(t, "predicted") {
				low := times.Draw(t, "low")
				r.Predicted = &predict.Interval{Low: low, Up: low + times.Draw(t, "width")}
				r.Actual = times.Draw(t, "actual")
			}
			if rapid.Bool().Draw(t, "queued") {
				r.WaitPredicted, r.Wait = ptr(times.Draw(t, "wait predicted")), ptr(times.Draw(t, "wait"))
				r.TurnaroundPredicted, r.Turnaround = ptr(times.Draw(t, "total predicted")), ptr(times.Draw(t, "total"))
			}
			if rapid.Bool().Draw(t, "rented") {
				r.CostPredicted, r.Cost = ptr(times.Draw(t, "cost predicted")), ptr(times.Draw(t, "cost"))
			}
			runs = append(runs, r)
		}
		a := accuracyOf(runs)
		for name, of := range map[string]func(Score) Errors{
			"start":      func(s Score) Errors { return s.Start },
			"run":        func(s Score) Errors { return s.Run },
			"turnaround": func(s Score) Errors { return s.Turnaround },
			"cost":       func(s Score) Errors { return s.Cost },
		} {
			total, sum := of(a.Score), 0
			for _, app := range a.Applications {
				sum += of(app.Score).Runs
			}
			if sum != total.Runs {
				t.Fatalf("%s: %d runs, of applications %d", name, total.Runs, sum)
			}
			worst := math.Abs(total.Worst)
			if total.MeanAbs > worst+1e-5 || total.MedianAbs > worst+1e-5 || math.Abs(total.Mean) > total.MeanAbs+1e-5 {
				t.Fatalf("%s: %+v", name, total)
			}
			if total.Near < 0 || total.Near > 1 || total.Within < 0 || total.Within > 1 || (total.Runs > 0) != (total.WorstRun != "") {
				t.Fatalf("%s: %+v", name, total)
			}
		}
		slices.Reverse(runs)
		b := accuracyOf(runs)
		if b.MedianRatio != a.MedianRatio || b.Start.MedianAbs != a.Start.MedianAbs || b.Run.Within != a.Run.Within {
			t.Fatalf("reversed: %+v, %+v", a, b)
		}
	})
}

// TestLastAt: the latest measured run of a place says which application was there.
func TestLastAt(t *testing.T) {
	s := mustOpen(t, newPath(t))
	if app, err := s.LastAt(t.Context(), "sim.py-1"); app != "" || err != nil {
		t.Errorf("an empty history: %q, %v", app, err)
	}
	for minute, app := range []string{"sim.py-a", "sim.py-b", "sim.py-c"} {
		r := aRun(job.ID(fmt.Sprint("bag-", minute+1)), minute+1)
		r.App, r.AppByPath = app, "sim.py-1"
		if minute == 2 { // nothing was measured
			save(t, s, r, nil)
			continue
		}
		save(t, s, r, measured(1))
	}
	if app, err := s.LastAt(t.Context(), "sim.py-1"); app != "sim.py-b" || err != nil {
		t.Errorf("got %q, %v", app, err)
	}
}

// TestProfileOfAnotherNode: of several types of node the one that the latest measured run was on counts where none is the wanted one.
func TestProfileOfAnotherNode(t *testing.T) {
	s := mustOpen(t, newPath(t))
	if p, err := s.Profile(t.Context(), "sim-1", "cpu/16"); p != nil || err != nil {
		t.Fatalf("before any run: %+v, %v", p, err)
	}
	old, latest, blind := aRun("bag-1", 1), aRun("bag-2", 2), aRun("bag-3", 3)
	latest.NodeType, blind.NodeType = "cpu/4", "cpu/8"
	save(t, s, latest, measured(3))
	save(t, s, old, measured(1, 2))
	save(t, s, blind, nil) // nothing was measured in it
	p, err := s.Profile(t.Context(), "sim-1", "cpu/16")
	if err != nil || p == nil || p.NodeType != "cpu/4" || p.Runs != 1 || p.Measures.Get(predict.BagTask).Time.Sum != 3 {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := s.Profile(t.Context(), "other", "cpu/16"); p != nil || err != nil {
		t.Errorf("of another application: %+v, %v", p, err)
	}
}

// TestSpells: how often nodes were slow is stored with the run, whatever its state, summed up for a type of node since some time, and forgotten with the run.
func TestSpells(t *testing.T) {
	s := mustOpen(t, newPath(t))
	runs := []Run{aRun("bag-1", 1), aRun("bag-2", 2), aRun("bag-3", 3), aRun("bag-4", 4)}
	of := func(slow int) predict.Spells {
		return predict.Spells{{Host: "a", Hour: 7, Attempts: 10, Slow: slow}, {Host: "b", Hour: 8, Attempts: 4}}
	}
	runs[0].Spells, runs[1].Spells, runs[2].Spells = of(1), of(2), of(4)
	runs[1].State, runs[2].NodeType = "failed", "cpu/8"
	for _, r := range runs {
		save(t, s, r, nil)
		if got, ok, err := s.Run(t.Context(), r.ID); err != nil || !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("got %+v, %v, %v; want %+v", got, ok, err, r)
		}
	}
	sums := func(nodeType string, since job.Time, attempts, slow int) {
		t.Helper()
		if got, err := s.Spells(t.Context(), nodeType, since); err != nil || got.All() != (predict.Spell{Attempts: attempts, Slow: slow}) {
			t.Errorf("%q since %v: %+v, %v; want %d slow of %d", nodeType, since, got, err, slow, attempts)
		}
	}
	sums("", 0, 42, 7)
	sums("cpu/2", 0, 28, 3)
	sums("cpu/2", runs[1].Ended, 14, 2)
	sums("cpu/2", runs[3].Ended, 0, 0)
	if v, err := s.Slowness(t.Context()); err != nil || v.Slow != 7 || len(v.Hours) != 2 || len(v.Hosts) != 2 || v.Hosts[0] != (predict.Spell{Host: "a", Attempts: 30, Slow: 7}) {
		t.Errorf("%+v, %v", v, err)
	}
	if err := s.ForgetRun(t.Context(), "bag-2"); err != nil {
		t.Fatal(err)
	}
	sums("", 0, 28, 5)
	if got, err := (*Store)(nil).Spells(t.Context(), "", 0); got != nil || err != nil {
		t.Errorf("without a store: %v, %v", got, err)
	}
}
