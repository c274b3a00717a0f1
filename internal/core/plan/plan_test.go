package plan

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/predict"
)

// TestPlan runs the scenarios of testdata: nodes, a profile, then plans.
//
//	node name=n1 cpus=2 mem=8G gpus=2:a100        a node of the snapshot
//	clear                             no nodes, no profile
//	profile kind=… runs=… tasks=… …   what was measured before, with "more" besides the last; sizes with units
//	plan kind=bag tasks=… …           the plan as JSON
//	say kind=bag tasks=… …            its reasons and notes, or the error
//
// and, for queues, see runBatch.
func TestPlan(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		var s scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type scenario struct {
	snap  cluster.Snapshot
	prof  *predict.Profile
	q     Question    // what the next decisions are asked with, besides
	ask   job.Request // likewise
	left  []job.NeedsLeft
	asked Question // the last one that was decided
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "node":
		n := cluster.Node{Name: text(t, d, "name", "n1"), Capacity: resources(t, d, "cpus", "mem", "gpus")}
		n.Free = n.Capacity
		s.snap.Driver, s.snap.Nodes = "local", append(s.snap.Nodes, n)
	case "clear":
		*s = scenario{}
	case "profile":
		s.prof = s.profile(t, d, s.prof)
	case "measured":
		s.q.Measured = s.profile(t, d, nil)
	case "plan":
		p, err := s.decide(t, d)
		if err != nil {
			return describe(err)
		}
		b, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	case "needs":
		if len(d.CmdArgs) == 0 {
			s.left = nil
			break
		}
		r := resources(t, d, "c", "need", "g")
		s.left = append(s.left, job.NeedsLeft{Waiting: number(t, d, "n", 1), Needs: job.Needs{CPUs: r.CPUs, Mem: r.Mem, GPUs: r.GPUs, GPUType: r.GPUType, Gang: gang(t, d)}})
	case "say":
		p, err := s.decide(t, d)
		if err != nil {
			return describe(err)
		}
		out := ""
		for _, r := range p.Reasons {
			out += r + "\n"
		}
		for _, n := range p.Notes {
			out += "note: " + n + "\n"
		}
		return out
	default:
		return s.runBatch(t, d)
	}
	return ""
}

func describe(err error) string { return fmt.Sprintf("%s error: %v\n", job.ClassOf(err), err) }

func (s *scenario) decide(t *testing.T, d *datadriven.TestData) (Plan, error) {
	q := s.q
	q.Now, q.Snap, q.Spec, q.Profile = begin, s.snap, spec(t, d), s.prof
	q.Counts = Counts{Tasks: number(t, d, "tasks", 1), InputBytes: size(t, d, "input")}
	if q.Remaining != nil {
		rest := *q.Remaining
		rest.Needs, q.Remaining = s.left, &rest
	} else if q.Counts.Needs = s.left; s.left != nil {
		q.Counts.Tasks = mixOf(s.left).count()
	}
	r, ask := &q.Spec.Request, s.ask
	r.Partition, r.Exclusive, r.NoScout, r.MaxAllocs, r.WallTime = ask.Partition, ask.Exclusive, ask.NoScout, ask.MaxAllocs, ask.WallTime
	r.NodePower, r.EnergyWeight, r.StartWithin = ask.NodePower, ask.EnergyWeight, ask.StartWithin
	r.PreemptibleOK = ask.PreemptibleOK
	out, err := Anywhere(q.Snap.Queue, q.Spec)
	if err != nil {
		return Plan{}, err
	}
	q.LeftOut, s.asked = out, q
	return Decide(q)
}

func spec(t *testing.T, d *datadriven.TestData) *job.Spec {
	sp := &job.Spec{ID: "x-1", Name: "x", Kind: job.Kind(text(t, d, "kind", "bag")), Dir: "/home/u"}
	sp.Request = job.Request{
		Workers: number(t, d, "workers", 0), MinNodes: number(t, d, "min", 0), MaxNodes: number(t, d, "max", 0),
		MaxTime: time.Duration(number(t, d, "time", 0)) * time.Second, IdleTimeout: time.Minute, SortMemory: size(t, d, "sort"),
	}
	needs := resources(t, d, "c", "need", "g")
	if sp.Kind == job.Bag {
		sp.Bag = &job.BagSpec{Command: []string{"/opt/sim", "{}"}, Need: needs, Gang: gang(t, d), Throttle: number(t, d, "throttle", 0)}
		return sp
	}
	sp.MapReduce = &job.MapReduceSpec{
		Mapper: job.Program{Args: []string{"awk", "-f", "/opt/map.awk"}}, Reducer: &job.Program{Args: []string{"awk", "-f", "/opt/reduce.awk"}},
		Reduces: number(t, d, "reduces", -1), MapNeed: needs,
		ReduceNeed: job.Resources{CPUs: number(t, d, "rc", 1), Mem: size(t, d, "rneed")},
	}
	return sp
}

// profile makes a profile of equal runs, with "more" besides those of another: each task
// takes a time or twice that, by turns. "done" is how many tasks of an unfinished run were measured.
func (s *scenario) profile(t *testing.T, d *datadriven.TestData, prof *predict.Profile) *predict.Profile {
	sz := predict.Size{Kind: job.Kind(text(t, d, "kind", "bag")), InputBytes: size(t, d, "input"), Tasks: number(t, d, "tasks", 1), Reduces: number(t, d, "reduces", 0)}
	if !d.HasArg("more") {
		prof = &predict.Profile{App: predict.Application(spec(t, d)), NodeType: "test/2"}
	}
	ms := number(t, d, "ms", 1000)
	for range number(t, d, "runs", 1) {
		var c predict.Collector
		for i := range number(t, d, "done", sz.Tasks) {
			took := time.Duration(ms*(1+i%2)) * time.Millisecond
			if sz.Kind == job.Bag {
				c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(took)}})
				continue
			}
			in := sz.InputBytes / int64(sz.Tasks)
			c.Add(job.MapTask, []job.PhaseStat{
				{Phase: job.PhaseMap, End: job.Time(took), BytesIn: in, BytesOut: in / 2},
				{Phase: job.PhaseMerge, Start: job.Time(took), End: job.Time(took), BytesIn: in / 2, BytesOut: in / 2},
			})
		}
		for range number(t, d, "reduces-done", sz.Reduces) {
			end := job.Time(10 * time.Hour)
			in := sz.InputBytes / 2 / int64(sz.Reduces)
			c.Add(job.ReduceTask, []job.PhaseStat{
				{Phase: job.PhaseShuffle, Start: end, End: end.Add(time.Second), BytesIn: in},
				{Phase: job.PhaseSort, Start: end.Add(time.Second), End: end.Add(time.Second)},
				{Phase: job.PhaseReduce, Start: end.Add(time.Second), End: end.Add(3 * time.Second), BytesIn: in, BytesOut: in / 10},
			})
		}
		prof.AddRun(sz, 0, c.Measures())
	}
	return prof
}

func text(t *testing.T, d *datadriven.TestData, key, def string) string {
	d.MaybeScanArgs(t, key, &def)
	return def
}

func number(t *testing.T, d *datadriven.TestData, key string, def int) int {
	d.MaybeScanArgs(t, key, &def)
	return def
}

// gang reads the ranks of tasks.
func gang(t *testing.T, d *datadriven.TestData) job.Gang {
	return job.Gang{Ranks: number(t, d, "ranks", 0), RanksPerNode: number(t, d, "per", 0)}
}

func size(t *testing.T, d *datadriven.TestData, key string) int64 {
	s := text(t, d, key, "0")
	n, err := parse.Size(d.Pos, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// resources reads cores, memory and GPUs from the arguments of those names.
func resources(t *testing.T, d *datadriven.TestData, cpus, mem, gpus string) job.Resources {
	r := job.Resources{CPUs: number(t, d, cpus, 1), Mem: size(t, d, mem)}
	var err error
	if r.GPUs, r.GPUType, err = parse.GPUs(gpus, text(t, d, gpus, "0")); err != nil {
		d.Fatalf(t, "%v", err)
	}
	return r
}
