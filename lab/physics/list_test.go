package physics

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// genFast draws a configuration without failures: jobs with shuffles, several waves of maps and
// allocations that end too early, and rigid jobs between them.
func genFast(t *rapid.T) sim.Config {
	ms := func(label string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * rapid.SampledFrom([]time.Duration{time.Millisecond, 500 * time.Millisecond}).Draw(t, "grain")
	}
	list := func(label string, n, from, to int) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = ms(label, from, to)
		}
		return out
	}
	cfg := sim.Config{
		Cluster: sim.Cluster{Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"), Cores: rapid.IntRange(1, 3).Draw(t, "cores"),
			MaxTime: rapid.SampledFrom([]time.Duration{90 * time.Second, 10 * time.Minute, 18 * time.Hour}).Draw(t, "max time"),
			StartUp: rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "start-up")},
		Policy:  rapid.SampledFrom([]batch.Policy{batch.CBF, batch.EASY}).Draw(t, "policy"),
		Adaptor: sim.Adaptor{Way: rapid.SampledFrom([]sim.Way{sim.Naive, sim.Paper, sim.Berth}).Draw(t, "way")},
	}
	if rapid.Bool().Draw(t, "one allocation") {
		cfg.Adaptor.Request = job.Request{MaxAllocs: 1}
	}
	at := time.Duration(0)
	for i := range rapid.IntRange(1, 5).Draw(t, "jobs") {
		at += ms("gap", 0, 40)
		e := workload.Elastic{ID: int64(i + 1), App: "a", User: 1, Submit: job.Time(at), Maps: list("map", rapid.IntRange(1, 30).Draw(t, "maps"), 1, 100)}
		if n := rapid.IntRange(0, 8).Draw(t, "reduces"); n > 0 {
			e.Reduces = list("reduce", n, 1, 100)
			if rapid.Bool().Draw(t, "shuffles") {
				e.FirstShuffle, e.Shuffle = list("first", n, 0, 10), list("shuffle", n, 0, 20)
			}
		}
		cfg.Elastic = append(cfg.Elastic, e)
	}
	at = 0
	for i := range rapid.IntRange(0, 4).Draw(t, "rigid jobs") {
		at += ms("gap", 0, 40)
		run := ms("run", 1, 200)
		cfg.Rigid = append(cfg.Rigid, workload.Rigid{ID: int64(i + 1), User: -1, Submit: job.Time(at), Nodes: rapid.IntRange(1, cfg.Cluster.Nodes).Draw(t, "of nodes"),
			Run: run, Request: run + ms("more", 0, 100)})
	}
	return cfg
}

// TestListIsTheEngine: a job that nothing fails and that has a single allocation for itself ends exactly when list scheduling says.
func TestListIsTheEngine(t *testing.T) {
	listed, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := genFast(t)
		r, err := sim.Run(t.Context(), cfg)
		if job.ClassOf(err) == job.User {
			t.Skip("a task is longer than the queue's maximum")
		}
		if err != nil {
			t.Fatal(err)
		}
		all += len(cfg.Elastic)
		for i := range cfg.Elastic {
			e, o := &cfg.Elastic[i], &r.Elastic[i]
			if o.Allocs != 1 || o.Lost > 0 {
				continue // the end of an allocation came between
			}
			want, ok := fastRun{job: e, slots: o.Nodes * cfg.Cluster.Cores, slowStart: sched.SlowStart(len(e.Maps), job.New(job.MapReduce, "/").MapReduce.SlowStart)}.end(o.Start)
			if !ok {
				continue
			}
			if listed++; o.Finish != want {
				t.Errorf("job %d: %+v, by list scheduling it ends at %v", i+1, o, want)
			}
		}
	})
	if 4*listed < all {
		t.Errorf("only %d of %d jobs were list-scheduled", listed, all)
	}
	t.Logf("%d of %d jobs were list-scheduled", listed, all)
}

// fastRun is a job on slots of speed 1 that are all available from the start.
type fastRun struct {
	job       *workload.Elastic
	slots     int
	slowStart int // number of maps that end before reduces begin to shuffle
}

// end returns when the job ends. It returns false for one with more reduces than slots, as the engine lets further reduces shuffle ahead,
// and for tasks of parts of a millisecond.
func (f fastRun) end(from job.Time) (finish job.Time, ok bool) {
	done, early, ok := f.maps()
	if !ok || len(f.job.Reduces) > f.slots {
		return 0, false
	}
	if finish = from.Add(done); len(f.job.Reduces) > 0 {
		finish = f.reduces(finish, early)
	}
	return finish, true
}

// maps returns when the last map (or task of a bag) ends, relative to the start, and how many maps ended before it. It computes in whole
// milliseconds, so that no sum is rounded, and returns false if a duration is not a multiple of 1 ms.
func (f fastRun) maps() (done time.Duration, early int, ok bool) {
	free := make([]float64, f.slots)
	ends := make([]float64, 0, len(f.job.Maps))
	for _, d := range f.job.Maps {
		if d%time.Millisecond != 0 {
			return 0, 0, false
		}
		i := slices.Index(free, slices.Min(free)) // the slot that is free first
		free[i] += float64(d / time.Millisecond)
		ends = append(ends, free[i])
	}
	end := slices.Max(ends)
	for _, e := range ends {
		if e < end {
			early++
		}
	}
	return time.Duration(end) * time.Millisecond, early, true
}

// reduces returns when the last reduce of a single wave ends. last is the end of the last map, and early the number of maps that ended
// before it.
func (f fastRun) reduces(last job.Time, early int) (done job.Time) {
	shuffles := f.job.FirstShuffle
	if early < f.slowStart { // no reduce began before the last map had ended
		shuffles = f.job.Shuffle
	}
	for i, d := range f.job.Reduces {
		at := last
		if shuffles != nil {
			at = at.Add(shuffles[i])
		}
		done = max(done, at.Add(d))
	}
	return done
}
