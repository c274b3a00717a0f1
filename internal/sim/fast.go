package sim

import (
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/sched"
	"berth/internal/workload"
)

// fast lets a job run on an allocation that has begun by list scheduling, which predict has
// for its trials, and reports whether it does: where the engine would do just the same. So
// it is for a job on the one allocation that it asked for, all alone and without failures,
// whose tasks all are done in time, and begin so early that none is held back. Where there are
// more reduces than run at once, the engine has them shuffle on a node ahead of time, which
// is more than a list scheduler knows.
func (c *coordinator) fast(g *grant) bool {
	if !c.w.cfg.fast() || !c.own {
		return false
	}
	a := c.onlyApp()
	p := &a.first
	if p.Scout > 0 || len(p.More) > 0 || a.out.Allocs != 1 || a.started {
		return false
	}
	from := c.w.now.Add(c.w.cfg.Cluster.StartUp)
	finish, ok := fastRun{
		job: a.Elastic, slots: g.alloc.nodes * c.w.machine.size.CPUs, slowStart: a.slowStart(),
		expect: p.TaskTime, expectReduce: p.ReduceTime,
	}.run(from, g.alloc.ends())
	if !ok {
		return false
	}
	a.started, a.out.Start = true, since(from)
	c.closed = true // the engine hears no more
	c.w.agenda.note(finish, endRank, fastEnd{c, a})
	return true
}

// fast reports whether there may be such jobs.
func (cfg *Config) fast() bool {
	return cfg.Adaptor.Fast && cfg.Cluster.Speeds == nil && cfg.Faults == Faults{}
}

// onlyApp returns the job of a coordinator that has one.
func (c *coordinator) onlyApp() *app {
	for _, a := range c.apps {
		return a
	}
	return nil
}

// slowStart returns how many maps are done before reduces begin to shuffle.
func (a *app) slowStart() int {
	if a.spec.Kind != job.MapReduce {
		return 0
	}
	return sched.SlowStart(len(a.Maps), a.spec.MapReduce.SlowStart)
}

// fastEnd is the end of a job that was list-scheduled.
type fastEnd struct {
	c *coordinator
	a *app
}

func (e fastEnd) happen() {
	e.c.w.result.Busy += e.a.Work()
	e.a.end(false)
	e.c.giveBack()
}

// fastRun is a job on slots of speed 1 that are all there from the start.
type fastRun struct {
	job                  *workload.Elastic
	slots                int
	slowStart            int           // maps that are done before reduces begin to shuffle
	expect, expectReduce time.Duration // what the plan has tasks take; 0: unknown
}

// run returns when the job is done; false: not as the engine would have it.
func (f fastRun) run(from, ends job.Time) (finish job.Time, ok bool) {
	if len(f.job.Maps) == 0 || len(f.job.Reduces) > f.slots {
		return 0, false
	}
	begin, done, early, ok := f.maps()
	if !ok || !sched.InTime(from.Add(begin), ends, atMost(f.job.Maps, f.expect)) {
		return 0, false
	}
	last := from.Add(done)
	finish = last
	if len(f.job.Reduces) > 0 {
		var sorts job.Time // when the last reduce has shuffled
		if sorts, finish = f.reduces(last, early); !sched.InTime(sorts, ends, atMost(f.job.Reduces, f.expectReduce)) {
			return 0, false
		}
	}
	return finish, finish <= ends
}

// maps returns how long after the start the last map, or task of a bag, begins and ends, and
// how many ended before; false: one does not take whole milliseconds, in which all is reckoned
// so that no sum is rounded.
func (f fastRun) maps() (begin, done time.Duration, early int, ok bool) {
	ms := make([]float64, len(f.job.Maps))
	for i, d := range f.job.Maps {
		if d%time.Millisecond != 0 {
			return 0, 0, 0, false
		}
		ms[i] = float64(d / time.Millisecond)
	}
	last, ends := predict.NewSeries(ms).Singly(f.slots)
	end := slices.Max(ends)
	for _, e := range ends {
		if e < end {
			early++
		}
	}
	return time.Duration(last) * time.Millisecond, time.Duration(end) * time.Millisecond, early, true
}

// reduces returns when the last of one wave of reduces has shuffled, and when the last is done,
// where the last map ends at an instant and so many ended before.
func (f fastRun) reduces(last job.Time, early int) (shuffled, done job.Time) {
	shuffles := f.job.FirstShuffle
	if early < f.slowStart { // none began before the last map had ended
		shuffles = f.job.Shuffle
	}
	for i, d := range f.job.Reduces {
		at := last
		if shuffles != nil {
			at = at.Add(shuffles[i])
		}
		shuffled, done = max(shuffled, at), max(done, at.Add(d))
	}
	return shuffled, done
}

// atMost returns the time that the engine keeps clear before the end of an allocation for
// tasks of a sort, at most: by what the plan has them take, or what was measured, which is
// within the accuracy of a sketch of the longest.
func atMost(ds []time.Duration, expect time.Duration) time.Duration {
	longest := time.Duration(0)
	for _, d := range ds {
		longest = max(longest, d)
	}
	return sched.Span(max(expect, longest+longest/32))
}
