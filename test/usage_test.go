package test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestUsage checks that the resources that jobs use are reported over time, for several jobs together, and drawn into a file,
// and the energy if a flag or the environment gives the power of a node.
func TestUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// tail keeps all its input in memory. That is more than the worker ever uses, so the kernel's maximum counts, however short the task is.
	w.write("busy.sh", "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c\n")
	w.must("bag", "--node-power", "50:100", "--weight", "2.5", "--", "sh", "busy.sh", ":::", "1", "2")
	w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_NODE_POWER=50:100"}
	w.must("bag", "--", "sh", "busy.sh", ":::", "1")
	w.batch = nil
	w.must("bag", "--", "true", ":::", "1")
	jobs := w.jobs()

	var v report.UsageView
	if err := json.Unmarshal([]byte(w.must("report", "--nodes", "--svg", "use.svg", "--json", string(jobs[0]), string(jobs[1])).stdout), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Jobs) != 2 || len(v.Nodes) != 1 || v.Nodes[0].CPU.Capacity < 1 || v.Nodes[0].CPU.Mean <= 0 || v.Nodes[0].Mem.Max <= 0 {
		t.Errorf("%+v", v)
	}
	raw, err := os.ReadFile(filepath.Join(w.dir, "use.svg"))
	if err != nil || xml.Unmarshal(raw, new(struct{})) != nil || !strings.Contains(string(raw), "<path ") {
		t.Errorf("%v: %s", err, raw)
	}
	if r := w.must("report", "--nodes"); !strings.Contains(r.stdout, string(jobs[2])+" on 1 node from ") || !strings.Contains(r.stdout, "\n  net  |") {
		t.Errorf("%s", r.stdout)
	}
	if r := w.berth("report", "--nodes", "--svg", "no/such/folder/use.svg"); r.code != int(job.CodeIO) {
		t.Errorf("a file that cannot be written: %v", r)
	}
	var a report.Account
	if err := json.Unmarshal([]byte(w.must("report", "--since", "1h", "--by", "partition", "--json").stdout), &a); err != nil {
		t.Fatal(err)
	}
	if c := a.Cores; a.Jobs != 3 || len(a.Groups) != 1 || a.Groups[0].Name != "local" || c.Used <= 0 || c.Held < c.Used+c.Idle-1e-6 || len(a.Unread) > 0 {
		t.Errorf("%+v", a)
	}
	if r := w.must("report", "--since", "1h"); !strings.HasPrefix(r.stdout, "core-hours of jobs that ended since ") || !strings.Contains(r.stdout, "\nall ") {
		t.Errorf("%s", r.stdout)
	}
	for i, want := range []struct {
		weight float64
		source string
	}{{2.5, "estimated"}, {1, "estimated"}, {1, ""}} {
		var v report.JobView
		if err := json.Unmarshal([]byte(w.must("report", string(jobs[i]), "--json").stdout), &v); err != nil {
			t.Fatal(err)
		}
		source := ""
		if v.Energy != nil && v.Energy.Joules > 0 {
			source = v.Energy.Source
		}
		if source != want.source && source != report.EnergyMeasured || v.Weight != want.weight {
			t.Errorf("%s: energy %+v, weight %g", jobs[i], v.Energy, v.Weight)
		}
	}
}
