package physics

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/loads"
	"berth/lab/schedulers"
	"berth/test/support/enginetest"
)

// trial is a simulation of a batch of jobs on the paper's nodes.
type trial struct {
	Phases
	cfg sim.Config
}

func newTrial(b loads.PhasedBatch, seed uint64) *trial {
	t := &trial{Phases{Jobs: loads.PhasedJobs(b, seed)}, sim.Config{Policy: batch.FCFS, Adaptor: Own(b.Nodes), Seed: seed}}
	t.cfg.Adaptor.Scheduler = sched.Cores
	for range b.Nodes {
		t.Hardware = append(t.Hardware, Hardware{
			Capacity: job.Resources{CPUs: 4, Mem: 7 << 30, Disk: loads.FullDisk, Net: loads.FullNet}, Speed: 1, Idle: 80, Full: 160})
	}
	return t
}

// run simulates it. seen, if not nil, gets all records.
func (x *trial) run(t rapid.TB, seen func(at job.Time, r event.Record)) (*Phases, *sim.Result) {
	t.Helper()
	p := &watched{Phases{Hardware: x.Hardware, Jobs: x.Jobs, Fixed: x.Fixed}, seen}
	cfg := p.Config(x.cfg)
	cfg.Physics = p
	r, err := sim.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.Use(r)
	return &p.Phases, r
}

// watched are phases that are looked at.
type watched struct {
	Phases
	seen func(at job.Time, r event.Record)
}

func (p *watched) Observe(r event.Record) {
	if p.seen != nil {
		p.seen(p.w.Now(), r)
	}
}

// invariants returns a function that checks records: the engine's invariants hold and no phase begins without a grant for it; and a
// function that returns how many attempts of a task were done.
func invariants(t rapid.TB) (func(at job.Time, r event.Record), func(id job.ID, task int) int) {
	ledger, seq := enginetest.NewLedger(t.Fatalf), uint64(0)
	leave, done := make(map[job.Attempt]job.Phase), make(map[job.Attempt]int)
	return func(at job.Time, r event.Record) {
		seq++
		ledger.Apply(event.Entry{Seq: seq, At: at, Record: r})
		switch r := r.(type) {
		case event.AttemptStarted:
			leave[r.Attempt] = r.Through
		case event.PhaseGranted:
			leave[r.Attempt] = r.Phase
		case event.PhaseEntered:
			if r.Phase > leave[r.Attempt] && r.Phase != job.PhaseMerge { // a map with one spill does not ask for a grant
				t.Fatalf("%v enters %v and has a grant through %v", r.Attempt, r.Phase, leave[r.Attempt])
			}
		case event.AttemptEnded:
			if r.Outcome == event.Done {
				done[job.Attempt{Job: r.Attempt.Job, Task: r.Attempt.Task}]++
			}
		case event.OutputLost:
			t.Fatalf("finished work is lost: %+v", r)
		}
	}, func(id job.ID, task int) int { return done[job.Attempt{Job: id, Task: task}] }
}

// TestPhasedWorld checks, under every scheduler and with failures, that the engine's invariants
// hold, that every task is done once, that no phase begins without a grant for it, and that the same
// simulation gives the same result.
func TestPhasedWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTrial(loads.PhasedBatch{Jobs: rapid.IntRange(1, 4).Draw(t, "jobs"), Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"),
			Bytes: rapid.Float64Range(1<<20, 1<<31).Draw(t, "bytes")}, rapid.Uint64().Draw(t, "seed"))
		x.cfg.Adaptor.Scheduler = rapid.SampledFrom(schedulers.All()).Draw(t, "scheduler")
		x.Fixed = rapid.Bool().Draw(t, "fixed")
		if rapid.Bool().Draw(t, "unequal") {
			h := &x.Hardware[0]
			h.Speed, h.Capacity.CPUs, h.Capacity.Mem = 2, 8, 16<<30
		}
		if rapid.Bool().Draw(t, "faults") {
			x.cfg.Faults = sim.Faults{NodeMTBF: time.Hour, Repair: time.Minute, TaskFails: 0.02}
		}
		check, done := invariants(t)
		p, r := x.run(t, check)
		for i, o := range r.Elastic {
			e, of := &x.Jobs[i], p.Of[i]
			if o.Finish <= o.Start || of.Local > of.Maps || !o.Killed && of.Maps < len(e.Maps) {
				t.Fatalf("job %d: %+v, %+v", i, o, of)
			}
			for task := range len(e.Maps) + len(e.Reduces) {
				if n := done(sim.IDOf(&e.Elastic, i), task); n > 1 || n == 0 && !o.Killed {
					t.Fatalf("task %d of job %d was done %d times", task, i, n)
				}
			}
		}
		if twice, again := x.run(t, nil); !reflect.DeepEqual(r, again) || twice.Used != p.Used || twice.Energy != p.Energy || !slices.Equal(twice.Of, p.Of) {
			t.Fatalf("the second time: %+v, %+v; the first time: %+v, %+v", again, twice.Used, r, p.Used)
		}
	})
}

// TestPhasedWork checks that the use of the nodes equals the demands of the tasks and the sum over
// the jobs, and that no node was used beyond its capacity.
func TestPhasedWork(t *testing.T) {
	x := newTrial(loads.PhasedBatch{Jobs: 5, Nodes: 4}, 1)
	x.Fixed = true
	p, r := x.run(t, nil)
	var want, jobs Use
	for i := range x.Jobs {
		f := x.Jobs[i].Phased
		for _, m := range f.Maps {
			for _, a := range m {
				want.CPU += a.CPU
				want.Disk += a.Disk
			}
		}
		for _, m := range f.Reduces {
			for _, a := range m {
				want.CPU += a.CPU
				want.Disk += a.Disk + a.Net*f.Served
			}
		}
		o := &p.Of[i]
		jobs.CPU += o.CPU
		jobs.Disk += o.Disk
		jobs.Net += o.Net
		if o.Maps != len(f.Maps) || o.Local > o.Maps || r.Elastic[i].Killed {
			t.Errorf("job %d: %+v", i, o)
		}
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %g instead of %g", what, got, want)
		}
	}
	near("cores", p.Used.CPU, want.CPU)
	near("disks", p.Used.Disk, want.Disk)
	near("cores of jobs", jobs.CPU, want.CPU)
	near("disks of jobs", jobs.Disk, want.Disk)
	near("network of jobs", jobs.Net, p.Used.Net)
	span := r.End.Sub(r.Begin).Seconds()
	if p.Used.CPU > 16*span || p.Used.Disk > 4*loads.FullDisk*span || p.Used.Net > 4*loads.FullNet*span || p.Used.Memory > 28*(1<<30)*span {
		t.Errorf("in %g s nodes were used for %+v", span, p.Used)
	}
	if p.Energy < 4*80*span || p.Energy > 4*160*span {
		t.Errorf("%g J in %g s", p.Energy, span)
	}
}

// TestPhasedAlone checks that tasks without contention take the sum of the times of their phases at
// full speed, that cores of twice the speed halve the phases that compute, and that a job that comes
// after another is submitted at its end.
func TestPhasedAlone(t *testing.T) {
	maps := [2]loads.Amounts{{CPU: 10, Disk: 100e6}, {CPU: 1, Disk: 300e6}}
	reduces := [3]loads.Amounts{{CPU: 4, Net: 10}, {Least: 2}, {CPU: 6, Cores: 2}}
	e := loads.Job{Elastic: workload.Elastic{ID: 1, App: "a", Maps: []time.Duration{1}, Reduces: []time.Duration{1}}, Phased: &loads.Phased{
		Maps: [][2]loads.Amounts{maps}, Reduces: [][3]loads.Amounts{reduces}, Splits: []float64{50e6}, Homes: [][]int{{0}}}}
	next := e
	next.ID, next.After = 2, 1
	for speed, want := range map[float64]float64{1: 10 + 3 + 4 + 2 + 3, 2: 5 + 3 + 2 + 2 + 1.5} {
		x := newTrial(loads.PhasedBatch{Nodes: 1}, 1)
		x.Jobs, x.Fixed = []loads.Job{e, next}, true
		x.Hardware[0].Speed = speed
		_, r := x.run(t, nil)
		for i, o := range r.Elastic {
			if got := o.Turnaround(); math.Abs(got-want) > 0.01 || math.Abs(o.Submit.Sub(0).Seconds()-float64(i)*want) > 0.01 {
				t.Errorf("speed %g: job %d takes %g s instead of %g, from %v on", speed, i+1, got, want, o.Submit)
			}
		}
	}
}

// TestRemoteSplit checks that a map on a node without its split reads it over the network, from the
// disk of a node that has it.
func TestRemoteSplit(t *testing.T) {
	e := loads.Job{Elastic: workload.Elastic{ID: 1, App: "a", Maps: []time.Duration{1}, Reduces: []time.Duration{1}}, Phased: &loads.Phased{
		Maps: [][2]loads.Amounts{{{CPU: 1, Disk: 250e6}}}, Reduces: make([][3]loads.Amounts, 1), Splits: []float64{250e6}, Homes: [][]int{{1}}}}
	x := newTrial(loads.PhasedBatch{Nodes: 2}, 1)
	x.Jobs = []loads.Job{e}
	p, r := x.run(t, nil)
	if o := p.Of[0]; o.Local != 0 || o.Maps != 1 || math.Abs(r.Elastic[0].Turnaround()-2.5) > 0.01 || math.Abs(p.Used.Net-250e6) > 1e3 || math.Abs(p.Used.Disk-250e6) > 1e3 {
		t.Errorf("%+v, %+v", o, p.Used)
	}
}
