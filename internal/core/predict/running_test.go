package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRunningTasksCount: when the first tasks of a wave are done, which are the short ones, the mean is no less than two thirds of that of
// all tasks, and not far more once half of them are done. Without those that still run it is about half of it, or far less.
func TestRunningTasksCount(t *testing.T) {
	for name, draw := range map[string]func(u float64) float64{
		"uniform":     func(u float64) float64 { return 5 + 55*u },
		"exponential": func(u float64) float64 { return -30 * math.Log(1-u) },
	} {
		const tasks = 64
		var all []float64
		mean := 0.0
		for i := range tasks {
			all = append(all, draw((float64(i)+0.5)/tasks))
			mean += all[i] / tasks
		}
		for _, done := range []int{8, 16, 32, 63} {
			var ages []float64
			for range tasks - done {
				ages = append(ages, all[done-1])
			}
			short := sketchOf(all[:done]...)
			with := short.withRunning(ages)
			if r := with.Mean() / mean; r < 0.67 || r > 3 || done >= 32 && r > 1.6 {
				t.Errorf("%s, %d done: the mean is expected to be %.2f of the true one", name, done, r)
			}
			if r := short.Mean() / mean; done <= 16 && r > 0.55 {
				t.Errorf("%s, %d done: without running tasks the mean is %.2f of the true one", name, done, r)
			}
		}
	}
}

// TestRunningTasksTakeLonger: each running task gets a duration that is no less than its age, the measured ones stay, no quantile gets
// less than it would be if all ages were durations, and without running tasks nothing changes.
func TestRunningTasksTakeLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		done, ages := genDurations(t, "done"), genDurations(t, "ages")
		s := sketchOf(done...)
		got := s.withRunning(ages)
		if !got.Sound() || s.Count != int64(len(done)) {
			t.Fatalf("%+v, of %+v", got, s)
		}
		if len(done) == 0 || len(ages) == 0 {
			if got.Count != s.Count || got.Sum != s.Sum {
				t.Fatalf("%+v instead of %+v", got, s)
			}
			return
		}
		least := sketchOf(append(ages, done...)...)
		if got.Count != least.Count || got.Max < least.Max || got.Sum < least.Sum*(1-Accuracy)-tiny {
			t.Fatalf("%+v, and of the ages %+v", got, least)
		}
		for q := 0.05; q < 1; q += 0.1 {
			if got.Quantile(q) < least.Quantile(q)*(1-3*Accuracy)-tiny {
				t.Fatalf("quantile %g is %g, of the ages %g", q, got.Quantile(q), least.Quantile(q))
			}
		}
	})
}
