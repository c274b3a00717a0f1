package sim

import (
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/loads"
	"berth/lab/schedulers"
)

// phasedConfig is the configuration of a batch of jobs on the paper's nodes.
func phasedConfig(b loads.PhasedBatch, seed uint64) Config {
	cfg := Config{Policy: batch.FCFS, Cluster: Cluster{Nodes: b.Nodes}, Adaptor: Adaptor{Way: Own, Shared: true, Scheduler: sched.Cores},
		Elastic: loads.PhasedJobs(b, seed), Seed: seed}
	for range b.Nodes {
		cfg.Cluster.Hardware = append(cfg.Cluster.Hardware, Hardware{
			Capacity: job.Resources{CPUs: 4, Mem: 7 << 30, Disk: workload.FullDisk, Net: workload.FullNet}, Speed: 1, Idle: 80, Full: 160})
	}
	return cfg
}

// TestPhasedWorld checks, under every scheduler and with failures, that the engine's invariants
// hold, that every task is done once, that no phase begins without a grant for it, and that the same
// simulation gives the same result.
func TestPhasedWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := phasedConfig(loads.PhasedBatch{Jobs: rapid.IntRange(1, 4).Draw(t, "jobs"), Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"),
			Bytes: rapid.Float64Range(1<<20, 1<<31).Draw(t, "bytes")}, rapid.Uint64().Draw(t, "seed"))
		cfg.Adaptor.Scheduler = rapid.SampledFrom(schedulers.All()).Draw(t, "scheduler")
		cfg.Adaptor.Fixed = rapid.Bool().Draw(t, "fixed")
		if rapid.Bool().Draw(t, "unequal") {
			h := &cfg.Cluster.Hardware[0]
			h.Speed, h.Capacity.CPUs, h.Capacity.Mem = 2, 8, 16<<30
		}
		if rapid.Bool().Draw(t, "faults") {
			cfg.Faults = Faults{NodeMTBF: time.Hour, Repair: time.Minute, TaskFails: 0.02}
		}
		r := watched(t, cfg)
		for i, o := range r.Elastic {
			if o.Finish <= o.Start || o.Local > o.Maps || !o.Killed && o.Maps < len(cfg.Elastic[i].Maps) {
				t.Fatalf("job %d: %+v", i, o)
			}
		}
		if again, err := Run(context.Background(), cfg); err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("the second time: %+v, %v; the first time: %+v", again, err, r)
		}
	})
}

// TestPhasedWork checks that the use of the nodes equals the demands of the tasks and the sum over
// the jobs, and that no node was used beyond its capacity.
func TestPhasedWork(t *testing.T) {
	cfg := phasedConfig(loads.PhasedBatch{Jobs: 5, Nodes: 4}, 1)
	cfg.Adaptor.Fixed = true
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var want, jobs Use
	for i := range cfg.Elastic {
		f := cfg.Elastic[i].Phased
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
		o := &r.Elastic[i]
		jobs.CPU += o.Used.CPU
		jobs.Disk += o.Used.Disk
		jobs.Net += o.Used.Net
		if o.Maps != len(f.Maps) || o.Local > o.Maps || o.Killed {
			t.Errorf("job %d: %+v", i, o)
		}
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %g instead of %g", what, got, want)
		}
	}
	near("cores", r.Used.CPU, want.CPU)
	near("disks", r.Used.Disk, want.Disk)
	near("cores of jobs", jobs.CPU, want.CPU)
	near("disks of jobs", jobs.Disk, want.Disk)
	near("network of jobs", jobs.Net, r.Used.Net)
	span := r.End.Sub(r.Begin).Seconds()
	if r.Used.CPU > 16*span || r.Used.Disk > 4*workload.FullDisk*span || r.Used.Net > 4*workload.FullNet*span || r.Used.Memory > 28*(1<<30)*span {
		t.Errorf("in %g s nodes were used for %+v", span, r.Used)
	}
	if r.Energy < 4*80*span || r.Energy > 4*160*span {
		t.Errorf("%g J in %g s", r.Energy, span)
	}
}

// TestPhasedAlone checks that tasks without contention take the sum of the times of their phases at
// full speed, that cores of twice the speed halve the phases that compute, and that a job that comes
// after another is submitted at its end.
func TestPhasedAlone(t *testing.T) {
	maps := [2]workload.Amounts{{CPU: 10, Disk: 100e6}, {CPU: 1, Disk: 300e6}}
	reduces := [3]workload.Amounts{{CPU: 4, Net: 10}, {Least: 2}, {CPU: 6, Cores: 2}}
	e := workload.Elastic{ID: 1, App: "a", Maps: []time.Duration{1}, Reduces: []time.Duration{1}, Phased: &workload.Phased{
		Maps: [][2]workload.Amounts{maps}, Reduces: [][3]workload.Amounts{reduces}, Splits: []float64{50e6}, Homes: [][]int{{0}}}}
	next := e
	next.ID, next.After = 2, 1
	for speed, want := range map[float64]float64{1: 10 + 3 + 4 + 2 + 3, 2: 5 + 3 + 2 + 2 + 1.5} {
		cfg := phasedConfig(loads.PhasedBatch{Nodes: 1}, 1)
		cfg.Elastic, cfg.Adaptor.Fixed = []workload.Elastic{e, next}, true
		cfg.Cluster.Hardware[0].Speed = speed
		r, err := Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
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
	e := workload.Elastic{ID: 1, App: "a", Maps: []time.Duration{1}, Reduces: []time.Duration{1}, Phased: &workload.Phased{
		Maps: [][2]workload.Amounts{{{CPU: 1, Disk: 250e6}}}, Reduces: make([][3]workload.Amounts, 1), Splits: []float64{250e6}, Homes: [][]int{{1}}}}
	cfg := phasedConfig(loads.PhasedBatch{Nodes: 2}, 1)
	cfg.Elastic = []workload.Elastic{e}
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if o := r.Elastic[0]; o.Local != 0 || o.Maps != 1 || math.Abs(o.Turnaround()-2.5) > 0.01 || math.Abs(r.Used.Net-250e6) > 1e3 || math.Abs(r.Used.Disk-250e6) > 1e3 {
		t.Errorf("%+v, %+v", o, r.Used)
	}
}
