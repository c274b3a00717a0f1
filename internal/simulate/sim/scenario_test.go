package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan/rent"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// TestScenarios runs the scenarios of testdata/scenarios, which are small enough to be checked by
// hand. All times are in seconds.
//
//	cluster nodes=4 policy=cbf max=3600 cores=1 startup=0 speeds=(1,1,2,2)
//	adaptor way=berth shared order=shortest unknown upper one noscout
//	adaptor way=rented deadline=100 budget=5 machines=(2,1) once
//	cloud …           the machines that can be rented, see scenario.cloud
//	faults mtbf=1000 repair=100 slow=1000 for=100 by=3 fails=0.1 seed=1
//	rigid             lines: ID SUBMIT NODES RUN REQUEST
//	elastic           lines: ID SUBMIT maps=60,50x3 ranks=1,2x3 reduces=… first=… shuffle=… app=a user=1
//	run [log]         prints the outcomes; log also prints the records of attempts and allocations
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := scenario{cfg: Config{Policy: batch.CBF}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.do(t, d) })
	})
}

type scenario struct{ cfg Config }

func (s *scenario) do(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "cluster":
		s.cfg = Config{Policy: batch.CBF, Adaptor: s.cfg.Adaptor}
		s.cluster(t, d)
	case "adaptor":
		s.adaptor(t, d)
	case "cloud":
		s.cloud(t, d)
	case "faults":
		f := &s.cfg.Faults
		f.NodeMTBF, f.Repair, f.SlowMTBF, f.SlowFor = span(t, d, "mtbf"), span(t, d, "repair"), span(t, d, "slow"), span(t, d, "for")
		f.SlowBy, f.TaskFails = float(t, d, "by"), float(t, d, "fails")
		s.cfg.Seed = uint64(float(t, d, "seed"))
	case "rigid":
		s.cfg.Rigid = nil
		for line := range strings.Lines(d.Input) {
			n := numbers(t, strings.Join(strings.Fields(line), ","))
			s.cfg.Rigid = append(s.cfg.Rigid, workload.Rigid{ID: int64(n[0]), User: -1, Submit: job.Time(seconds(n[1])), Nodes: int(n[2]), Run: seconds(n[3]), Request: seconds(n[4])})
		}
	case "elastic":
		s.cfg.Elastic = nil
		for line := range strings.Lines(d.Input) {
			s.cfg.Elastic = append(s.cfg.Elastic, elasticOf(t, line))
		}
	case "run":
		return s.run(t, d.HasArg("log"))
	default:
		t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
	return ""
}

func (s *scenario) cluster(t *testing.T, d *datadriven.TestData) {
	c := &s.cfg.Cluster
	*c = Cluster{Nodes: int(float(t, d, "nodes")), Cores: int(float(t, d, "cores")), MaxTime: span(t, d, "max"), StartUp: span(t, d, "startup")}
	if arg, ok := d.Arg("speeds"); ok {
		c.Speeds = numbers(t, strings.Join(arg.Vals, ","))
	}
	if arg, ok := d.Arg("policy"); ok {
		s.cfg.Policy = batch.Policy(arg.Vals[0])
	}
}

func (s *scenario) adaptor(t *testing.T, d *datadriven.TestData) {
	a := &s.cfg.Adaptor
	*a = Adaptor{Deadline: span(t, d, "deadline"), Budget: float(t, d, "budget"), Once: d.HasArg("once"), Shared: d.HasArg("shared"), Unknown: d.HasArg("unknown")}
	if arg, ok := d.Arg("way"); ok {
		a.Way = Way(arg.Vals[0])
	}
	if arg, ok := d.Arg("order"); ok {
		a.Order = sched.Order(arg.Vals[0])
	}
	if arg, ok := d.Arg("machines"); ok {
		for _, n := range numbers(t, strings.Join(arg.Vals, ",")) {
			a.Machines = append(a.Machines, int(n))
		}
	}
	a.Request.NoScout = d.HasArg("noscout")
	if d.HasArg("upper") {
		a.Request.WallTime = job.WallUpper
	}
	if d.HasArg("one") {
		a.Request.MaxAllocs = 1
	}
}

// run simulates and prints the outcomes of the jobs.
func (s *scenario) run(t *testing.T, log bool) string {
	var out strings.Builder
	if err := s.cfg.check(); err != nil {
		return job.ClassOf(err).String() + " error: " + err.Error() + "\n"
	}
	cfg := s.cfg
	w := newWorld(context.Background(), &cfg)
	if log {
		w.watch = func(_ *coordinator, r event.Record) { logRecord(&out, w.now, r) }
		w.advised = func(a rent.Advice) { fmt.Fprintf(&out, "%v: %s\n", sec(since(w.now)), a.Reason) }
	}
	if err := w.run(); err != nil {
		return out.String() + job.ClassOf(err).String() + " error: " + err.Error() + "\n"
	}
	r := w.result
	for i, o := range r.Rigid {
		fmt.Fprintf(&out, "rigid %d: %s\n", cfg.Rigid[i].ID, describe(o))
	}
	for i, o := range r.Elastic {
		fmt.Fprintf(&out, "elastic %d: %s, allocations %d, lost %d\n", cfg.Elastic[i].ID, describe(o), o.Allocs, o.Lost)
		if o.Rented > 0 {
			fmt.Fprintf(&out, "rented %d, interrupted %d, cost %.4f; expected %.1f s, cost %.4f\n", o.Rented, o.Interrupted, o.Cost, o.Expected, o.ExpectedFor)
		}
	}
	fmt.Fprintf(&out, "held %.2f + %.2f node-s, busy %.2f core-s, from %v to %v, utilization %.3f\n",
		r.HeldRigid, r.HeldElastic, r.Busy, sec(r.Begin), sec(r.End), r.Utilization(cfg.Cluster.Nodes))
	return out.String()
}

func describe(o Outcome) string {
	s := fmt.Sprintf("start %v, finish %v, nodes %d", sec(o.Start), sec(o.Finish), o.Nodes)
	if o.Killed {
		s += ", killed"
	}
	return s
}

// logRecord prints the main fields of a record.
func logRecord(out *strings.Builder, now job.Time, r event.Record) {
	at := sec(since(now))
	switch r := r.(type) {
	case event.AllocRequested:
		fmt.Fprintf(out, "%v: %s asks for %s: %d nodes for %v\n", at, r.Job, r.Alloc, r.Request.Nodes, r.Request.Time)
	case event.AllocBegan:
		fmt.Fprintf(out, "%v: %s begins, ends %v\n", at, r.Alloc, sec(since(r.Ends)))
	case event.AllocEnded:
		fmt.Fprintf(out, "%v: %s ends: %s\n", at, r.Alloc, r.Reason)
	case event.NodeLost:
		fmt.Fprintf(out, "%v: %s lost: %s\n", at, r.Node, r.Reason)
	case event.AttemptStarted:
		where := string(r.Node)
		for _, s := range r.Gang[min(1, len(r.Gang)):] {
			where += " and " + string(s.Node)
		}
		fmt.Fprintf(out, "%v: %v starts on %s\n", at, r.Attempt, where)
	case event.PhaseGranted:
		fmt.Fprintf(out, "%v: %v has a grant for %v\n", at, r.Attempt, r.Phase)
	case event.AttemptEnded:
		fmt.Fprintf(out, "%v: %v %v %s\n", at, r.Attempt, r.Outcome, r.Reason)
	case event.JobEnded:
		fmt.Fprintf(out, "%v: %s %s %s\n", at, r.Job, r.State, r.Reason)
	}
}

func sec(t job.Time) float64 { return time.Duration(t).Seconds() }

func seconds(s float64) time.Duration { return roundMilli(s * 1e9) }

// elasticOf parses a job: its number, submission time and tasks.
func elasticOf(t *testing.T, line string) workload.Elastic {
	fields := strings.Fields(line)
	n := numbers(t, strings.Join(fields[:2], ","))
	e := workload.Elastic{ID: int64(n[0]), App: "a", User: 1, Submit: job.Time(seconds(n[1]))}
	for _, f := range fields[2:] {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "maps":
			e.Maps = spans(t, value)
		case "reduces":
			e.Reduces = spans(t, value)
		case "first":
			e.FirstShuffle = spans(t, value)
		case "shuffle":
			e.Shuffle = spans(t, value)
		case "app":
			e.App = value
		case "ranks":
			var list job.NeedsList
			for _, n := range spans(t, value) {
				list.Add(job.Needs{Gang: job.Gang{Ranks: int(n.Seconds())}})
			}
			e.Further, e.Which = list.Further, list.Runs()
		case "user":
			e.User = int64(numbers(t, value)[0])
		default:
			t.Fatalf("no field %q", key)
		}
	}
	return e
}

// spans parses "60,50x3": one duration of 60 s and three of 50 s.
func spans(t *testing.T, list string) []time.Duration {
	var out []time.Duration
	for part := range strings.SplitSeq(list, ",") {
		value, times, repeated := strings.Cut(part, "x")
		n := 1.0
		if repeated {
			n = numbers(t, times)[0]
		}
		out = append(out, slices.Repeat([]time.Duration{seconds(numbers(t, value)[0])}, int(n))...)
	}
	return out
}

func numbers(t *testing.T, list string) []float64 {
	var out []float64
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func float(t *testing.T, d *datadriven.TestData, key string) float64 {
	arg, ok := d.Arg(key)
	if !ok {
		return 0
	}
	return numbers(t, arg.Vals[0])[0]
}

func span(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	return seconds(float(t, d, key))
}
