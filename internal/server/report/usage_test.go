package report_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestUsage: what a phase took is spread over its time, and stands beside what its node has.
func TestUsage(t *testing.T) {
	at := func(s float64) job.Time { return job.Time(1.7e9 * 1.024e9).Add(time.Duration(s * 1.024e9)) } // a whole number of steps
	u := report.NewUsage()
	u.Add("a1/0", []job.PhaseStat{
		{Phase: job.PhaseMap, Start: at(0), End: at(100), CPU: 51200 * time.Millisecond, PeakMemory: 1 << 30, DiskBytes: 10240},
		{Phase: job.PhaseMerge, Start: at(100), End: at(200), DiskBytes: 102400},
	})
	u.Add("a1/1", []job.PhaseStat{{Phase: job.PhaseShuffle, Start: at(50), End: at(150), NetBytes: 204800, Missing: job.ResourceSet(0).With(job.Disk)}})
	v := u.View([]job.ID{"mr-1"}, []report.NodeView{{Node: "a1/0", Host: "n1", Resources: job.Resources{CPUs: 4, Mem: 8 << 30, Disk: 1000}}})
	if v.StepS != 1.024 || !v.Start.Equal(at(0).Std()) || len(v.Nodes) != 2 {
		t.Fatalf("from %v in steps of %g s, %d nodes", v.Start, v.StepS, len(v.Nodes))
	}
	n0, n1 := v.Nodes[0], v.Nodes[1]
	for _, c := range []struct {
		name string
		got  report.ResourceView
		has  float64
		want [200]float64
	}{
		{"cpu", n0.CPU, 4, levels(0, 100, 0.5)},
		{"mem", n0.Mem, 8 << 30, levels(0, 100, 1<<30)},
		{"disk", n0.Disk, 1000, levels(0, 100, 100, 100, 200, 1000)},
		{"net", n1.Net, 0, levels(50, 150, 2000)},
	} {
		if c.got.Capacity != c.has || len(c.got.Used) != len(c.want) || c.got.Unknown {
			t.Fatalf("%s: %g of %d steps", c.name, c.got.Capacity, len(c.got.Used))
		}
		for i, want := range c.want {
			if math.Abs(c.got.Used[i]-want) > 1e-6*want {
				t.Fatalf("%s: %g in step %d, want %g", c.name, c.got.Used[i], i, want)
			}
		}
	}
	if n0.Host != "n1" || n0.Disk.Max != 1000 || n0.Disk.Mean != 550 || !n1.Disk.Unknown {
		t.Errorf("%+v", n0.Disk)
	}
}

// levels returns a curve of 200 steps with level in from … to, and so on.
func levels(parts ...float64) (curve [200]float64) {
	for ; len(parts) > 0; parts = parts[3:] {
		for i := int(parts[0]); i < int(parts[1]); i++ {
			curve[i] = parts[2]
		}
	}
	return curve
}

// TestUsageKeepsAmounts: however phases lie in time, and in whatever order they are told, nothing of what they took
// is lost, and the steps are few.
func TestUsageKeepsAmounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, cpu, disk := report.NewUsage(), 0.0, 0.0
		for range rapid.IntRange(1, 20).Draw(t, "phases") {
			from := rapid.Int64Range(1, 1<<45).Draw(t, "from")
			s := job.PhaseStat{Start: job.Time(from), End: job.Time(from + rapid.Int64Range(0, 1<<rapid.Int64Range(0, 45).Draw(t, "scale")).Draw(t, "takes")),
				CPU: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "cpu")), DiskBytes: rapid.Int64Range(0, 1e12).Draw(t, "disk")}
			cpu, disk = cpu+s.CPU.Seconds(), disk+float64(s.DiskBytes)
			u.Add(job.AllocID("a1").Node(rapid.IntRange(0, 2).Draw(t, "node")), []job.PhaseStat{s})
		}
		v := u.View(nil, nil)
		for _, n := range v.Nodes {
			if len(n.CPU.Used) > 256 {
				t.Fatalf("%d steps", len(n.CPU.Used))
			}
			for i := range n.CPU.Used {
				cpu, disk = cpu-n.CPU.Used[i]*v.StepS, disk-n.Disk.Used[i]*v.StepS
			}
		}
		if math.Abs(cpu) > 1 || math.Abs(disk) > 1e6 {
			t.Fatalf("%g s of cores and %g bytes are gone", cpu, disk)
		}
	})
}
