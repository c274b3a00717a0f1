package straggler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/lab/loads"
	"berth/lab/rules"
)

// TestTwoMeans compares the exact division into two classes with the best of all divisions.
func TestTwoMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 9).Draw(t, "values")
		best := math.Inf(1)
		for mask := 1; mask < 1<<len(x)-1; mask++ {
			best = min(best, within(x, func(i int) bool { return mask>>i&1 == 1 }))
		}
		bound := straggler.TwoMeans(x)
		got := within(x, func(i int) bool { return x[i] <= bound })
		if equal := slices.Max(x) == slices.Min(x); equal != (bound == slices.Max(x)) || !equal && got > best+1e-6 {
			t.Fatalf("%v: %g within classes up to %g, the least is %g", x, got, bound, best)
		}
	})
}

// within returns the sum of squared distances from the means of two classes.
func within(x []float64, first func(int) bool) (sum float64) {
	for _, class := range []bool{true, false} {
		n, mean := 0.0, 0.0
		for i, v := range x {
			if first(i) == class {
				n, mean = n+1, mean+v
			}
		}
		for i, v := range x {
			if first(i) == class {
				sum += (v - mean/n) * (v - mean/n)
			}
		}
	}
	return sum
}

// app draws an application: a pace with dense and sparse stretches.
func app(t *rapid.T) loads.PacedApp {
	a := loads.PacedApp{Name: "drawn", Task: time.Duration(rapid.IntRange(60, 600).Draw(t, "seconds")) * time.Second, Spread: rapid.Float64Range(0, 0.05).Draw(t, "spread"),
		Counts: rapid.Float64Range(500, 1e6).Draw(t, "counts"), Bends: []loads.Bend{{}}}
	at := loads.Bend{}
	for range rapid.IntRange(0, 4).Draw(t, "bends") {
		at.Work += rapid.Float64Range(0.05, 0.2).Draw(t, "work")
		at.Counts += rapid.Float64Range(0, 0.2).Draw(t, "share")
		a.Bends = append(a.Bends, at)
	}
	a.Bends = append(a.Bends, loads.Bend{Work: 1, Counts: 1})
	return a
}

// TestHang: berth's rule finds an attempt that stops making progress, and duplicates it before others of the
// job would have taken twice as long; the paper's rule never acts on it once it compares counts of that time. Its increment is 0 where the
// age of the comparison is an interval after the first measurement since then. That age is at least half of the attempt's, and, where most
// attempts are as old, at most an interval and the difference of their last measurements (two seconds) below it.
func TestHang(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := app(t)
		e := a.Draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), 20)
		spells := make([]loads.Spells, 24)
		hangs := job.Time(0).Add(time.Duration(rapid.Float64Range(0.1, 0.9).Draw(t, "when") * float64(a.Task)))
		spells[0] = loads.Spells{{From: hangs, To: job.Time(100 * time.Hour)}}
		w := newWorld(straggler.Berth{}, e, spells)
		if end := w.until(job.Time(0).Add(3*a.Task + 5*time.Minute)); w.left > 0 {
			t.Fatalf("%d tasks left after %v, its tasks take %v, and one hangs after %v", w.left, end.Sub(0), a.Task, hangs.Sub(0))
		}
		for _, rule := range []straggler.Rule{straggler.Paper{T: 0.01}, straggler.Paper{T: 0.01, Aborting: true}} {
			w := newWorld(rule, e, spells)
			w.acts = func(v *straggler.View, d straggler.Verdict) {
				n, a := w.find(d.Attempt)
				if n != 0 || a.began != 0 || a.track.Now.T <= hangs.Sub(0) {
					return
				}
				first := slices.IndexFunc(a.track.Curve, func(m straggler.Mark) bool { return m.T >= hangs.Sub(0) })
				zero, age, old := a.track.Curve[first].T+straggler.Interval, a.track.Now.T, 0
				for _, r := range v.Running {
					if r.Began == 0 {
						old++
					}
				}
				if age >= 2*zero || 2*old > len(v.Running) && age >= zero+straggler.Interval+2*time.Second {
					t.Fatalf("%s: %v at the age of %v of an attempt that hangs since %v", rule.Name(), d.Act, age, hangs.Sub(0))
				}
			}
			w.until(job.Time(4 * a.Task))
		}
	})
}

// TestAlone: no rule acts on the only attempt of a job without earlier runs.
func TestAlone(t *testing.T) {
	for _, rule := range rules.All() {
		for _, seconds := range []int{3, 30, 300, 3000} {
			track := &straggler.Track{}
			for s := 3; s <= seconds; s += 3 {
				track.Add(time.Duration(s)*time.Second, job.Progress{Source: job.ProgressHits, N: float64(min(s, 20)), Fraction: -1})
			}
			v := &straggler.View{Now: job.Time(seconds) * job.Time(time.Second), Interval: straggler.Interval, Past: &straggler.Past{}, Left: 1, Slots: 10, Cores: 1, Budget: time.Hour,
				FreeSlots: []straggler.FreeSlot{{Node: "a1/1", Count: 9}}, Duplicate: true, Abort: true,
				Running: []straggler.Running{{Attempt: job.Attempt{Job: "bag-1", N: 1}, Node: "a1/0", Track: track}}}
			if d := rule.Assess(v); len(d) != 1 || d[0].Act != straggler.Keep || d[0].State > straggler.Healthy {
				t.Errorf("%s after %d s: %+v", rule.Name(), seconds, d)
			}
		}
	}
}

// TestVerdicts: each rule gives each attempt one verdict, those with an action first, and does only what the job allows.
func TestVerdicts(t *testing.T) {
	o := loads.Outliers{Probability: 0.2, Task: time.Minute, For: 10 * time.Minute, Least: 2, Mean: 3, Most: 8, Hangs: 0.3}
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom(rules.All()).Draw(t, "rule")
		seed := rapid.Uint64Range(0, 1000).Draw(t, "seed")
		e := app(t).Draw(rand.New(rand.NewPCG(seed, 1)), 30)
		w := newWorld(rule, e, spellsOf(o, rapid.IntRange(8, 40).Draw(t, "nodes"), seed))
		w.duplicate, w.abort = rapid.Bool().Draw(t, "duplicate"), rapid.Bool().Draw(t, "abort")
		w.look = func(v *straggler.View) { checkVerdicts(t, v, rule.Assess(v)) }
		w.until(job.Time(20 * time.Minute))
	})
}

func checkVerdicts(t *rapid.T, v *straggler.View, all []straggler.Verdict) {
	if len(all) != len(v.Running) {
		t.Fatalf("%d verdicts on %d attempts", len(all), len(v.Running))
	}
	seen := map[job.Attempt]bool{}
	kept := false
	for _, d := range all {
		if seen[d.Attempt] || !slices.ContainsFunc(v.Running, func(r straggler.Running) bool { return r.Attempt == d.Attempt }) {
			t.Fatalf("a verdict on %v, again or of none that runs", d.Attempt)
		}
		seen[d.Attempt] = true
		switch {
		case d.Act == straggler.Keep:
			kept = true
		case kept:
			t.Fatalf("%v of %v comes after attempts that are kept", d.Act, d.Attempt)
		case d.Act == straggler.Duplicate && !v.Duplicate || d.Act == straggler.Abort && !v.Abort:
			t.Fatalf("%v is not allowed", d.Act)
		case d.State != straggler.Slow && d.State != straggler.Hung:
			t.Fatalf("%v of an attempt that is %v", d.Act, d.State)
		}
	}
}

// runs simulates jobs of both applications of the paper with berth's rule and without a rule.
func runs(t *testing.T, o loads.Outliers, change func(w *world)) (mean, base, extra, worst float64) {
	t.Helper()
	const jobs = 6
	for _, a := range loads.PacedApps() {
		for seed := range uint64(jobs) {
			o.Task = a.Task
			e := a.Draw(rand.New(rand.NewPCG(seed, 7)), 100)
			play := func(rule straggler.Rule) (end, cpu float64) {
				w := newWorld(rule, e, spellsOf(o, 120, seed))
				if change != nil {
					change(w)
				}
				return w.run().Sub(0).Seconds(), w.used
			}
			with, cpu := play(straggler.Berth{})
			without, cpu0 := play(straggler.Nothing{})
			mean, base = mean+with/jobs/2, base+without/jobs/2
			extra += (cpu/cpu0 - 1) / jobs / 2
			worst = max(worst, with/without)
		}
	}
	return mean, base, extra, worst
}

// TestHealthy: without slow nodes, jobs take as long as without a rule, within the budget, whatever measures progress.
func TestHealthy(t *testing.T) {
	for _, source := range []job.ProgressSource{job.ProgressHits, job.ProgressCPU, job.ProgressInput} {
		_, _, extra, worst := runs(t, loads.Outliers{}, func(w *world) { w.source = source })
		if worst > 1.0001 || extra > 0.05 {
			t.Errorf("%v: %.3f of the time without the rule, %.1f %% more processor time", source, worst, 100*extra)
		}
	}
}

// TestOutliers: with the paper's rates of outliers, jobs end clearly sooner within the budget of processor time, and none later.
func TestOutliers(t *testing.T) {
	o := loads.Outliers{Probability: 0.01, For: 20 * time.Minute, Least: 1.6, Mean: 2, Most: 4, Hangs: 0.05}
	for _, source := range []job.ProgressSource{job.ProgressHits, job.ProgressCPU} {
		mean, base, extra, worst := runs(t, o, func(w *world) { w.source = source })
		t.Logf("%v: %.0f s under %.0f s, %.1f %% more processor time, at worst %.3f", source, mean, base, 100*extra, worst)
		if mean > 0.8*base || extra > 0.05 || worst > 1.02 {
			t.Errorf("%v: %.0f s under %.0f s, %.1f %% more processor time, at worst %.3f", source, mean, base, 100*extra, worst)
		}
	}
}

// TestWhileTasksWait: while tasks wait for slots the rule leaves attempts alone that make progress, on slow nodes too, as a duplicate would only
// change places with a waiting task.
func TestWhileTasksWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := app(t).Draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), rapid.IntRange(7, 14).Draw(t, "tasks"))
		spells := make([]loads.Spells, 6)
		spells[0] = loads.Spells{{To: job.Time(100 * time.Hour), Speed: rapid.Float64Range(0.3, 0.8).Draw(t, "speed")}}
		w := newWorld(straggler.Berth{}, e, spells)
		w.acts = func(v *straggler.View, d straggler.Verdict) {
			if v.Ready > 0 && d.State != straggler.Hung {
				t.Fatalf("after %v, %v of an attempt that is %v while %d tasks wait: %s", v.Now.Sub(0), d.Act, d.State, v.Ready, d.Why)
			}
		}
		w.run()
	})
}

// TestTrack: a track stays small, keeps its start and its latest measurement, and starts again with another source.
func TestTrack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k straggler.Track
		n := 0.0
		for i := range rapid.IntRange(1, 2000).Draw(t, "measurements") {
			n += float64(rapid.IntRange(0, 3).Draw(t, "more"))
			k.Add(time.Duration(i+1)*time.Second, job.Progress{Source: job.ProgressIO, N: n})
			if last := k.Curve[len(k.Curve)-1]; len(k.Curve) > 100 || k.Curve[0] != (straggler.Mark{}) || last != k.Now || last.N != n {
				t.Fatalf("%d marks from %+v to %+v, now %g", len(k.Curve), k.Curve[0], last, n)
			}
		}
		if !slices.IsSortedFunc(k.Curve, func(a, b straggler.Mark) int { return int(a.T - b.T) }) {
			t.Fatal("marks are not in order")
		}
		k.Add(time.Hour, job.Progress{Source: job.ProgressCPU, N: 1})
		if len(k.Curve) != 2 || k.Now.N != 1 {
			t.Fatalf("%+v", k)
		}
	})
}

// TestRuleNamed: each rule is found by its name, the paper's also with a threshold.
func TestRuleNamed(t *testing.T) {
	for _, name := range append(rules.Names(rules.All()), "paper:0.2", "paper-abort:0.05") {
		if r, err := straggler.RuleNamed("--rule", name, rules.All()); err != nil || r.Name() != name {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	for _, name := range []string{"luck", "paper:", "paper:x", "paper:0", "paper:-1", "paper:NaN", "paper:Inf", "berth:0.2", ":0.2"} {
		if r, err := straggler.RuleNamed("--rule", name, rules.All()); err == nil {
			t.Errorf("%s is the rule %s", name, r.Name())
		}
	}
}

func BenchmarkBerth(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := loads.PacedApps()[0]
			w := newWorld(straggler.Nothing{}, a.Draw(rand.New(rand.NewPCG(1, 1)), n), make([]loads.Spells, n))
			w.until(job.Time(3 * time.Minute))
			v := w.view()
			for b.Loop() {
				straggler.Berth{}.Assess(v)
			}
		})
	}
}

// TestByTime: if tasks end too soon for curves, an attempt that runs for far longer than all others is found by its age: it is
// slow if it makes progress, and hangs if it does not.
func TestByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		past := &straggler.Past{}
		longest := time.Duration(0)
		for range rapid.IntRange(5, 50).Draw(t, "done") {
			took := time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond
			past.Add(took, nil)
			longest = max(longest, took)
		}
		source := rapid.SampledFrom([]job.ProgressSource{job.ProgressCPU, job.ProgressIO}).Draw(t, "source")
		moves := rapid.Bool().Draw(t, "moves")
		track, found := &straggler.Track{}, time.Duration(0)
		for age := straggler.Interval; found == 0 && age < time.Hour; age += straggler.Interval {
			n := 1.0
			if moves {
				n = age.Seconds()
			}
			track.Add(age, job.Progress{Source: source, N: n, Fraction: -1})
			v := &straggler.View{Now: job.Time(age), Interval: straggler.Interval, Past: past, Left: 1, Slots: 10, Cores: 1, Budget: time.Hour, Mean: past.Mean(),
				FreeSlots: []straggler.FreeSlot{{Node: "a1/1", Count: 9}}, Duplicate: true, Abort: true,
				Running: []straggler.Running{{Attempt: job.Attempt{Job: "bag-1", N: 1}, Node: "a1/0", Track: track}}}
			d := straggler.Berth{}.Assess(v)[0]
			if d.Act == straggler.Keep {
				continue
			}
			found = age
			if want := map[bool]straggler.State{true: straggler.Slow, false: straggler.Hung}[moves]; d.Act != straggler.Duplicate || d.State != want && d.State != straggler.Slow {
				t.Fatalf("after %v: %+v", age, d)
			}
		}
		if found < 3*longest || found > 4*longest+10*straggler.Interval {
			t.Fatalf("it was found after %v, the longest took %v", found, longest)
		}
	})
}

// TestPastKeepsASample: the sample of many durations is distributed like all of them, in whatever order they came.
func TestPastKeepsASample(t *testing.T) {
	for _, order := range []func(i int) int{func(i int) int { return i }, func(i int) int { return 50000 - i }, func(i int) int { return i * 7877 % 50000 }} {
		p := &straggler.Past{}
		for i := range 50000 {
			p.Add(time.Duration(order(i))*time.Millisecond, nil)
		}
		for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
			if got := p.Quantile(q).Seconds() / 50; math.Abs(got-q) > 0.1 {
				t.Errorf("quantile %g of durations is taken for %g", q, got)
			}
		}
	}
}

// TestBeyond: an attempt whose count grows far beyond the final counts of the others gets a duplicate once it has run
// for much longer than they did, and is never aborted, as it may have more to do.
func TestBeyond(t *testing.T) {
	past := &straggler.Past{}
	track := func(seconds int) *straggler.Track {
		k := &straggler.Track{}
		for s := 2; s <= seconds; s += 2 {
			k.Add(time.Duration(s)*time.Second, job.Progress{Source: job.ProgressIO, N: 1000 * float64(s), Fraction: -1})
		}
		return k
	}
	for range 8 {
		past.Add(30*time.Second, track(30))
	}
	for _, tt := range []struct {
		age       int
		duplicate bool
		want      straggler.Action
	}{{60, true, straggler.Keep}, {300, true, straggler.Duplicate}, {300, false, straggler.Keep}} {
		v := &straggler.View{Now: job.Time(tt.age) * job.Time(time.Second), Interval: straggler.Interval, Past: past, Left: 1, Slots: 4, Cores: 1, Budget: time.Hour,
			Duplicate: tt.duplicate, Abort: true, FreeSlots: []straggler.FreeSlot{{Node: "a1/1", Count: 1}},
			Running: []straggler.Running{{Attempt: job.Attempt{Job: "bag-1", N: 1}, Node: "a1/0", Track: track(tt.age)}}}
		if d := (straggler.Berth{}).Assess(v)[0]; d.Act != tt.want {
			t.Errorf("after %d s: %+v", tt.age, d)
		}
		v.Ready, v.FreeSlots = 3, nil
		if d := (straggler.Berth{}).Assess(v)[0]; d.Act == straggler.Abort {
			t.Errorf("after %d s, while others wait: %+v", tt.age, d)
		}
	}
}

// TestSlowLater: tasks of Cap3 differ by more than a tenth in what they have counted after a minute, as their first part is dense. A node
// that becomes slow only then is found by the increments of its task: in most jobs within a quarter of what a task takes.
func TestSlowLater(t *testing.T) {
	soon := 0
	for seed := range uint64(10) {
		e := loads.PacedApps()[0].Draw(rand.New(rand.NewPCG(seed, 0)), 100)
		spells := make([]loads.Spells, 110)
		slow := job.Time(40 * time.Second)
		spells[0] = loads.Spells{{From: slow, To: job.Time(100 * time.Hour), Speed: 0.5}}
		w := newWorld(straggler.Berth{}, e, spells)
		w.share = 0.5
		found := false
		w.acts = func(v *straggler.View, d straggler.Verdict) {
			if d.Attempt.Task == 0 && !found {
				found = true
				if v.Now.Sub(slow) < time.Minute {
					soon++
				}
			}
		}
		w.run()
	}
	if soon < 7 {
		t.Errorf("in only %d of 10 jobs a node that became slow was found within a minute", soon)
	}
}
