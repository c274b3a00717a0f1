package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestSlowPaper: P of the paper no2-outliers, section 7.1.1: 100 tasks with 1 % of outliers meet none with 0.3660, 1,000 with 0.5 % with 0.0067.
func TestSlowPaper(t *testing.T) {
	for _, c := range []struct {
		share Spell
		tasks int
		want  float64
	}{{Spell{Host: "a", Attempts: 10000, Slow: 100}, 100, 0.3660}, {Spell{Host: "a", Attempts: 10000, Slow: 50}, 1000, 0.0067}, {Spell{}, 100, 1}} {
		if p := (Spells{c.share}).None(c.tasks); c.share.Attempts > 0 && math.Abs(p-c.want) > 5e-5 {
			t.Errorf("P = %.4f, want %.4f", p, c.want)
		}
	}
	if p := Spells(nil).None(100); p != 1 {
		t.Errorf("without a history P = %v, want 1", p)
	}
}

// TestSlowHosts: whatever the spread of tasks up to a factor, attempts on a host that takes twice as long in one hour are slow there and then, and no others.
func TestSlowHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var times Times
		base := rapid.Float64Range(2, 1e4).Draw(t, "seconds")
		hosts, hour := rapid.IntRange(5, 20).Draw(t, "hosts"), rapid.IntRange(1, 23).Draw(t, "hour")
		slow := 0
		for h := range hosts {
			for range rapid.IntRange(3, 9).Draw(t, "attempts") {
				d := base * rapid.Float64Range(1, 1.2).Draw(t, "spread")
				if h == 0 {
					d, slow = 2.2*d, slow+1
				}
				times.Add(string(rune('a'+h)), hour*min(1, hosts-1-h), job.BagTask, d)
			}
		}
		times.Add("b", 0, job.BagTask, math.Inf(1))
		all := times.Spells()
		for _, s := range all.By(func(s *Spell) { s.Hour = 0 }) {
			want := map[string]int{"a": slow, "b": 1}[s.Host]
			if 8*slow < all.All().Attempts && s.Slow != want {
				t.Fatalf("%d of %d are slow on %s, want %d: %v", s.Slow, s.Attempts, s.Host, want, all)
			}
		}
		if all.All() != all.Slowness().Spell || len(all.Slowness().Hosts) != hosts {
			t.Fatal("sums differ")
		}
	})
}

// TestSlowKinds: kinds with few or short attempts say nothing, and tasks that differ in their work are not slow.
func TestSlowKinds(t *testing.T) {
	var times Times
	for i := range 100 {
		times.Add("a", 0, job.MapTask, 0.01*float64(i+1))
		times.Add("a", 0, job.ReduceTask, 2*math.Exp(3*float64(i)/100))
	}
	times.Add("a", 0, job.BagTask, 100)
	if s := times.Spells(); len(s) != 1 || s[0] != (Spell{Host: "a", Attempts: 100}) {
		t.Errorf("%+v", s)
	}
}
