package sim

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// cloud reads the machines that can be rented.
//
//	cloud bytes=100 server=50 transfer=0 bootspread=0
//	NAME price=3600 unit=1 minimum=0 boot=10 task=1 rate=25 limit=4 slots=1 spot=60
func (s *scenario) cloud(t *testing.T, d *datadriven.TestData) {
	c := &Cloud{Bytes: float(t, d, "bytes"), Server: float(t, d, "server"), Transfer: float(t, d, "transfer"), BootSpread: float(t, d, "bootspread")}
	s.cfg.Cloud = c
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		one := front.Type{Name: fields[0], Unit: 1, Task: 1, Limit: 10, Slots: 1}
		for _, f := range fields[1:] {
			key, value, _ := strings.Cut(f, "=")
			n := numbers(t, value)[0]
			switch key {
			case "price":
				one.Price = n
			case "unit":
				one.Unit = n
			case "minimum":
				one.Minimum = n
			case "boot":
				one.Boot = n
			case "task":
				one.Task = n
			case "rate":
				one.Rate = n
			case "limit":
				one.Limit = int(n)
			case "slots":
				one.Slots = int(n)
			case "spot":
				one.Interruptions = n
			default:
				t.Fatalf("no field %q", key)
			}
		}
		c.Types = append(c.Types, one)
	}
}

// TestCloudProperty checks that every bag ends or uses up its budget, whichever machines boot late
// or are interrupted, that the cost stays within the budget, and that two simulations of one
// configuration are equal.
func TestCloudProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Cloud{Bytes: rapid.SampledFrom([]float64{0, 1e6}).Draw(t, "bytes"), Server: 3e5, BootSpread: rapid.Float64Range(0, 2).Draw(t, "bootspread")}
		for i := range rapid.IntRange(1, 2).Draw(t, "types") {
			c.Types = append(c.Types, front.Type{Name: string(rune('a' + i)), Price: rapid.Float64Range(0.1, 10).Draw(t, "price"), Unit: rapid.SampledFrom([]float64{1, 60, 3600}).Draw(t, "unit"),
				Boot: rapid.Float64Range(0, 100).Draw(t, "boot"), Task: rapid.Float64Range(0.2, 2).Draw(t, "task"), Rate: 1e5, Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Limit: rapid.IntRange(1, 6).Draw(t, "limit"),
				Interruptions: rapid.SampledFrom([]float64{0, 1, 10}).Draw(t, "interruptions")})
		}
		cfg := Config{Cluster: Cluster{Nodes: 1}, Policy: batch.CBF, Cloud: c, Seed: rapid.Uint64().Draw(t, "seed")}
		cfg.Adaptor = Adaptor{Way: Rented, Budget: rapid.SampledFrom([]float64{0, 3, 20}).Draw(t, "budget"), Once: rapid.Bool().Draw(t, "once")}
		if rapid.Bool().Draw(t, "hasDeadline") {
			cfg.Adaptor.Deadline = time.Hour
		}
		tasks := slices.Repeat([]time.Duration{30 * time.Second, 50 * time.Second}, rapid.IntRange(1, 60).Draw(t, "tasks"))
		cfg.Elastic = []workload.Elastic{{ID: 1, App: "a", Maps: tasks}}
		r, err := Run(context.Background(), cfg)
		if err != nil {
			if job.ClassOf(err) != job.User {
				t.Fatal(err)
			}
			return
		}
		o := &r.Elastic[0]
		const unproductive = 3 // machines in a row that end without a task done end the job (engine.maxUnproductive)
		if o.Killed && cfg.Adaptor.Budget == 0 && o.Interrupted < unproductive || o.Rented < 1 || o.Cost <= 0 {
			t.Fatalf("%+v", o)
		}
		if !cfg.Adaptor.Once && cfg.Adaptor.Budget > 0 && o.Cost > cfg.Adaptor.Budget*(1+1e-9) {
			t.Fatalf("it cost %g of %g: %+v", o.Cost, cfg.Adaptor.Budget, o)
		}
		if again, err := Run(context.Background(), cfg); err != nil || !reflect.DeepEqual(again.Elastic[0], *o) {
			t.Fatalf("%v\n%+v\n%+v", err, again.Elastic[0], *o)
		}
	})
}
