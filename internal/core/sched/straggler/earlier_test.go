package straggler_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/lab/loads"
)

// earlier runs a job of an application and returns the curves of its attempts, as a profile keeps them.
func earlier(a loads.PacedApp, seed uint64) (curves []job.Curve) {
	w := newWorld(straggler.Nothing{}, a.Draw(rand.New(rand.NewPCG(seed, 7)), 8), make([]loads.Spells, 8))
	w.run()
	for _, r := range w.past.Own {
		marks := (&straggler.Track{Source: r.Source, Curve: r.Curve}).Pack()
		curves = append(curves, job.Curve{Kind: job.MapTask, Source: r.Source, Marks: marks})
	}
	return curves
}

// TestEarlierTellsEnd: with the curves of an earlier run, ends are predicted before the first attempt is done, also on nodes of
// another speed; without them they are not.
func TestEarlierTellsEnd(t *testing.T) {
	a := loads.PacedApp{Name: "even", Task: 10 * time.Minute, Spread: 0.02, Counts: 1e5, Bends: []loads.Bend{{}, {Work: 1, Counts: 1}}}
	for _, known := range []bool{false, true} {
		e := a.Draw(rand.New(rand.NewPCG(1, 1)), 5)
		for i := range e.Maps {
			e.Maps[i] *= 3
		}
		w := newWorld(straggler.Berth{}, e, make([]loads.Spells, 5))
		if known {
			w.past.AddEarlier(earlier(a, 2), job.MapTask)
			w.past.AddEarlier(earlier(a, 2), job.BagTask) // of tasks of another kind: there are none
			if n := len(w.past.Earlier); n != 8 {
				t.Fatalf("%d curves", n)
			}
		}
		w.look = func(v *straggler.View) {
			if v.Now < job.Time(10*time.Minute) {
				return
			}
			for _, d := range w.rule.Assess(v) {
				if told := d.End > 0; told != known || known && (d.End < job.Time(24*time.Minute) || d.End > job.Time(36*time.Minute)) {
					t.Errorf("earlier run known: %v; after %v %v is to end at %v, not at 30m", known, v.Now.Sub(0), d.Attempt, d.End.Sub(0))
				}
			}
		}
		w.until(job.Time(25 * time.Minute))
	}
}

// TestPaceOfThisRun: where all attempts begin at once on nodes of a speed a seventh or an eighth beside that of an earlier run, ends are
// expected to a tenth of the time for half of them at least when half of it is over.
func TestPaceOfThisRun(t *testing.T) {
	for _, a := range loads.PacedApps() {
		for _, speed := range []float64{1 / 1.15, 1.15} {
			e := a.Draw(rand.New(rand.NewPCG(1, 1)), 40)
			for i := range e.Maps {
				e.Maps[i] = time.Duration(float64(e.Maps[i]) * speed)
			}
			w := newWorld(straggler.Berth{}, e, make([]loads.Spells, 40))
			w.past.AddEarlier(earlier(a, 2), job.MapTask)
			if near, all := w.endsAtHalf(); all < 30 || near < all/2 {
				t.Errorf("%s, %.2f times as long as before: of %d ends %d were expected to a tenth", a.Name, speed, all, near)
			}
		}
	}
}

// TestEarlierWasFaster: attempts that are too few for a comparison are kept although those of an earlier run were much
// faster, as on other nodes.
func TestEarlierWasFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, seed := app(t), rapid.Uint64().Draw(t, "seed")
		tasks, slower := rapid.IntRange(1, 3).Draw(t, "tasks"), rapid.IntRange(2, 4).Draw(t, "times as slow")
		e := a.Draw(rand.New(rand.NewPCG(seed, 1)), tasks)
		for i := range e.Maps {
			e.Maps[i] *= time.Duration(slower)
		}
		w := newWorld(straggler.Berth{}, e, make([]loads.Spells, rapid.IntRange(1, 12).Draw(t, "nodes")))
		w.past.AddEarlier(earlier(a, seed), job.MapTask)
		w.acts = func(v *straggler.View, d straggler.Verdict) {
			t.Fatalf("%v of %v after %v: %s", d.Act, d.Attempt, v.Now.Sub(0), d.Why)
		}
		w.until(job.Time(float64(slower) * 0.7 * float64(a.Task))) // none is done
	})
}

// TestByProcessorTime: if earlier attempts ended with processor time as their measure, others are measured by it from their start, unless the user asked for
// entries of functions.
func TestByProcessorTime(t *testing.T) {
	in := job.Progress{Source: job.ProgressInput, N: 500, Fraction: 0.5, CPU: 2 * time.Second}
	for _, tt := range []struct {
		earlier []job.ProgressSource
		want    job.Progress
	}{
		{nil, in},
		{[]job.ProgressSource{job.ProgressInput, job.ProgressCPU}, in},
		{[]job.ProgressSource{job.ProgressInput, job.ProgressCPU, job.ProgressCPU}, job.Progress{Source: job.ProgressCPU, N: 2, Fraction: -1, CPU: 2 * time.Second}},
	} {
		var p straggler.Past
		for _, s := range tt.earlier {
			p.Earlier = append(p.Earlier, straggler.Reference{Source: s})
		}
		if got := p.By(in); got != tt.want {
			t.Errorf("earlier by %v: %+v, want %+v", tt.earlier, got, tt.want)
		}
	}
	p := straggler.Past{Earlier: []straggler.Reference{{Source: job.ProgressCPU}}}
	hits := job.Progress{Source: job.ProgressHits, N: 500, Fraction: -1, CPU: 2 * time.Second}
	if got := p.By(hits); got != hits {
		t.Errorf("entries of functions, which the user asked for: %+v", got)
	}
	if got := p.By(job.Progress{Fraction: -1}); got.Source != job.ProgressNone {
		t.Errorf("where nothing was measured yet: %+v", got)
	}
}

// TestSlowNodeOfAFewShortTasks: eight tasks of half a minute start together, with some seconds of difference. The one whose node
// becomes three times as slow is duplicated while that still pays, and no other is.
func TestSlowNodeOfAFewShortTasks(t *testing.T) {
	const from, lasts, slower = 8, 28, 2.8
	cpu := func(at, start float64, slow bool) float64 { // of a node that has a ninth of a core
		done := max(at-start, 0)
		if slow && at > from {
			done = from - start + (at-from)/slower
		}
		return done / 9
	}
	var past straggler.Past
	track := func(n int, until float64) *straggler.Track {
		k := &straggler.Track{}
		for at := 1.0; at <= until; at += 2 {
			c := time.Duration(cpu(at, float64(n%4)*0.8, n == 7) * float64(time.Second))
			k.Add(time.Duration(at*float64(time.Second)), job.Progress{Source: job.ProgressCPU, N: c.Seconds(), Fraction: -1, CPU: c})
		}
		return k
	}
	var curves []job.Curve
	for n := range 7 {
		curves = append(curves, job.Curve{Source: job.ProgressCPU, Marks: track(n, lasts).Pack()})
	}
	past.AddEarlier(curves, curves[0].Kind)
	for now := 9.0; now < 28; now += 3 {
		v := &straggler.View{Now: job.Time(now * 1e9), Interval: straggler.Interval, Past: &past, Left: 8, Slots: 10, Cores: 1, Duplicate: true, Mean: lasts * time.Second, Budget: 12 * time.Second,
			FreeSlots: []straggler.FreeSlot{{Node: "a1/8", Count: 1}, {Node: "a1/9", Count: 1}}}
		for n := range 8 {
			v.Running = append(v.Running, straggler.Running{Attempt: job.Attempt{Job: "bag-1", Task: n, N: 1}, Node: job.NodeID(rune('a' + n)), Track: track(n, now)})
		}
		for _, d := range (straggler.Berth{}).Assess(v) {
			switch {
			case d.Act == straggler.Keep:
			case d.Attempt.Task != 7:
				t.Fatalf("after %g s %v is to be begun again: %s", now, d.Attempt, d.Why)
			default:
				return
			}
		}
	}
	t.Error("the slow task is left alone")
}

// TestEndAtHalf: the end of a task on a healthy node is expected to a tenth of its time when half of that is over, for most tasks that begin
// when others are done, also where the program counts nearly nothing around that moment, so that its count says little.
func TestEndAtHalf(t *testing.T) {
	for _, a := range loads.PacedApps() {
		w := newWorld(straggler.Berth{}, a.Draw(rand.New(rand.NewPCG(1, 1)), 60), make([]loads.Spells, 12))
		near, all := w.endsAtHalf()
		if all < 40 || near < all*3/4 {
			t.Errorf("%s: of %d ends %d were expected to a tenth", a.Name, all, near)
		}
	}
}

// endsAtHalf runs the job. It returns of how many attempts an end was expected when half of their time was over, and how many of these ends
// were right to a tenth of that time.
func (w *world) endsAtHalf() (near, all int) {
	w.look = func(v *straggler.View) {
		for _, d := range w.rule.Assess(v) {
			_, r := w.find(d.Attempt)
			took := r.ends.Sub(r.began)
			if (v.Now.Sub(r.began)-took/2).Abs() > straggler.Interval/2 || d.End == 0 {
				continue
			}
			if all++; d.End.Sub(r.ends).Abs() <= took/10 {
				near++
			}
		}
	}
	w.run()
	return near, all
}
