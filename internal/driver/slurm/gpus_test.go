package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/test/support/batchtest"
	"berth/test/support/slurmtest"
)

// The lists in which Slurm's versions and sites write GPUs are understood, and other resources are not taken for GPUs.
func TestGres(t *testing.T) {
	for list, want := range map[string]string{
		"gpu:4": "[{ 4}]", "gpu": "[{ 1}]", "gpu:a100": "[{a100 1}]", "gpu:a100:4(S:0-1)": "[{a100 4}]",
		"gpu:a100:2(IDX:0,3),gpu:v100:0(IDX:N/A)": "[{a100 2} {v100 0}]", "gpu:a100:2,gpu:v100:2": "[{a100 2} {v100 2}]",
		"gres:gpu:2": "[{ 2}]", "gres/gpu:a100:2": "[{a100 2}]", "gpu:1g.5gb:7(S:0)": "[{1g.5gb 7}]", "gpu:1g.5gb": "[{1g.5gb 1}]",
		"gpu:no_consume:4": "[{ 4}]", "gpu:tesla:no_consume:4": "[{tesla 4}]", "gpu:2K": "[{ 2048}]", "gpu(S:0-1)": "[{ 1}]",
		"(null)": "[]", "": "[]", "N/A": "[]", "mps:400,shard:8,gpus:2": "[]", "nvme:1,gpu:nvidia_a100-sxm4-80gb:8(S:0,1)": "[{nvidia_a100-sxm4-80gb 8}]",
		"gpu:a100:99999999999999": "[{a100 0}]", "gpu:(null):3(IDX:0-2)": "[{ 3}]", "gpu:2080:4": "[{2080 4}]", "gpu:K80:4": "[{K80 4}]", "gpu:K80": "[{K80 1}]",
		"gres/gpu:3090=2": "[{3090 2}]", "gpu:M40:no_consume:2": "[{M40 2}]",
	} {
		if got := fmt.Sprint(parseGres(list)); got != want {
			t.Errorf("%q: %s, want %s", list, got, want)
		}
	}
	for list, want := range map[string]string{
		"cpu=2,mem=4G,node=1,gres/gpu=2": "2 ", "gres/gpu=2,gres/gpu:a100=2": "2 a100", "gres/gpu:a100=2": "2 a100", "gres/gpu=3,gres/gpu:a100=2": "3 ",
		"gres/gpu=3,gres/gpu:a100=2,gres/gpu:v100=1": "3 ", "cpu=1,gres/gpumem=4,gres/gpu_x=1": "0 ", "N/A": "0 ",
	} {
		count, kind := sumGres(parseGres(list))
		if got := fmt.Sprint(count, " ", kind); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// Of a node with GPUs of several types those of the commonest type count, and of these the ones in use are not free. What is in use
// is known from the node, or from accounting.
func TestNodeGPUs(t *testing.T) {
	for _, c := range []struct {
		gres, used, tres string
		all, free        int
		kind             string
	}{
		{"(null)", "gpu:0", "", 0, 0, ""},
		{"gpu:4", "gpu:3(IDX:0-2)", "", 4, 1, ""},
		{"gpu:4", "gpu:(null):3(IDX:0-2)", "", 4, 1, ""},
		{"gpu:2080:4", "gpu:2080:3(IDX:0-2)", "", 4, 1, "2080"},
		{"gpu:a100:4(S:0-1)", "gpu:a100:1(IDX:2)", "cpu=1,gres/gpu=4", 4, 3, "a100"},
		{"gpu:a100:4", "", "cpu=1,gres/gpu=3,gres/gpu:a100=3", 4, 1, "a100"},
		{"gpu:a100:4", "", "cpu=1,gres/gpu=3", 4, 1, "a100"},
		{"gpu:a100:4", "", "", 4, 4, "a100"},
		{"gpu:a100:1,gpu:1g.5gb:7", "gpu:a100:1(IDX:0),gpu:1g.5gb:2(IDX:1-2)", "", 7, 5, "1g.5gb"},
		{"gpu:a100:2,gpu:v100:2", "", "gres/gpu=2", 2, 0, "a100"},
		{"gpu:a100:1,gpu:a100:1", "gpu:a100:9", "", 2, 0, "a100"},
	} {
		all, free := nodeGPUs(map[string]string{"Gres": c.gres, "GresUsed": c.used, "AllocTRES": c.tres})
		if want := (job.Resources{GPUs: c.all, GPUType: c.kind}); all != want || free.GPUs != c.free || free.GPUType != c.kind {
			t.Errorf("%+v: %+v, free %+v", c, all, free)
		}
	}
}

// A job's GPUs on each node are those that accounting tells, else those that it asked for.
func TestJobGPUs(t *testing.T) {
	for _, c := range []struct {
		tres, perNode, perJob string
		nodes                 int
		want                  string
	}{
		{"cpu=4,gres/gpu=4,gres/gpu:a100=4", "gres:gpu:a100:2", "N/A", 2, "2 a100"},
		{"cpu=4", "gres/gpu:2", "N/A", 3, "2 "},
		{"cpu=4", "N/A", "gres:gpu:v100:3", 2, "2 v100"},
		{"N/A", "N/A", "N/A", 1, "0 "},
	} {
		count, kind := jobGPUs(c.tres, c.perNode, c.perJob, c.nodes)
		if got := fmt.Sprint(count, " ", kind); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Limits on GPUs of all types are read wherever those on CPUs are.
func TestGPULimits(t *testing.T) {
	a := parseLimits("main|main|||||gres/gpu=8,gres/gpu:a100=2\n", "main|root|cpu=9,gres/gpu=6\nroot||\n", "normal||||cpu=4,gres/gpu=5|gres/gpu=3|gres/gpu=4|cpu=4,gres/gpu=1\n")
	var mine, qos cluster.Bounds
	mine[cluster.GroupGPUs], mine[cluster.GroupCPUs] = 6, 9
	qos[cluster.GroupGPUs], qos[cluster.GroupCPUs], qos[cluster.UserGPUs] = 5, 4, 3
	if a.Associations[0].Bounds != mine || a.Accounts[0].GPUs != 6 || a.QOS[0].Bounds != qos || a.QOS[0].MinCPUs != 4 {
		t.Errorf("%+v", a)
	}
}

// FuzzGres checks that no list makes the parsers fail, or gives a node fewer than no GPUs or more free ones than it has.
func FuzzGres(f *testing.F) {
	for _, s := range []string{"gpu:a100:4(S:0-1)", "gpu:4", "gpu:a100:2,gpu:v100:2", "gres/gpu=2,gres/gpu:a100=2", "gpu:a100:2(IDX:0,3)", "gpu(", ")gpu:1", "gpu::", "gpu:-1"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, gres, used, tres string) {
		all, free := nodeGPUs(map[string]string{"Gres": gres, "GresUsed": used, "AllocTRES": tres})
		if all.GPUs < 0 || all.GPUs > job.MaxCPUs || free.GPUs < 0 || !free.Fits(all) {
			t.Fatalf("%+v, free %+v", all, free)
		}
		if n, _ := jobGPUs(tres, gres, used, 3); n < 0 || n > job.MaxCPUs {
			t.Fatalf("a job has %d", n)
		}
	})
}

// Requests name GPUs, with their type if the job does.
func TestGPUArguments(t *testing.T) {
	for want, r := range map[string]job.Resources{
		"--gpus-per-node=2": {CPUs: 1, GPUs: 2}, "--gpus-per-node=a100:1": {CPUs: 1, GPUs: 1, GPUType: "a100"},
	} {
		if got := strings.Join(shapeArgs(job.AllocRequest{Nodes: 1, PerNode: r}, memPerNode), " "); !strings.Contains(got+" ", want+" ") {
			t.Errorf("%+v: %s", r, got)
		}
	}
	if got := strings.Join(shapeArgs(job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 1, GPUType: "a100"}}, memPerNode), " "); strings.Contains(got, "gpus") {
		t.Errorf("without GPUs: %s", got)
	}
}

// A snapshot of a real cluster has the GPUs of its nodes, and of those the ones in use; a request for GPUs starts on a node that has
// them free, with as many as it asked for, and its workers are told which.
func TestGPUs(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(3), slurmtest.GPUs("1:2:a100 1:3:v100"))
	seen := filepath.Join(t.TempDir(), "seen")
	b := batchtest.NewBed(t, system, c, "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES >>"+seen+"\n"+batchtest.Idle)
	id := c.Submit(t, "--gpus-per-node=v100:1", "--ntasks=1", "--mem=10", "--output=/dev/null", "--wrap=sleep 600")
	defer c.Run(t, "scancel", id)
	c.WaitState(t, id, "RUNNING")
	snap, err := Open(b.Opts.Env).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		all, free int
		kind      string
	}{{2, 2, "a100"}, {3, 2, "v100"}, {}} {
		n := snap.Nodes[i]
		if n.Capacity.GPUs != want.all || n.Free.GPUs != want.free || n.Capacity.GPUType != want.kind {
			t.Errorf("node %+v, want %+v", n, want)
		}
	}
	if r := snap.Queue.Running[0].PerNode; r.GPUs != 1 || r.GPUType != "v100" {
		t.Errorf("the job has %+v", r)
	}
	line, _ := snap.Timeline(cluster.View{PerNode: job.Resources{CPUs: 1, GPUs: 3}})
	if line.At(snap.At) != 0 {
		t.Errorf("a node has three free GPUs now: %v", line.Steps())
	}
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Time: 10 * 60e9, Elastic: true, Batch: job.Batch{}}
	req.PerNode.GPUs, req.PerNode.GPUType = 2, "a100"
	if err := b.D.Request(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.Up("a1")
	b.Poll("a worker has written what it sees", func() bool {
		text, _ := os.ReadFile(seen)
		return strings.HasSuffix(string(text), "\n")
	})
	if text, err := os.ReadFile(seen); string(text) != "n1 0,1\n" {
		t.Errorf("its worker saw %q, %v", text, err)
	}
	req.PerNode.GPUs, req.PerNode.GPUType = 9, ""
	if err := b.D.Request(t.Context(), "a2", req); err != nil {
		t.Fatal(err)
	}
	b.Down("a2", "", true)
}
