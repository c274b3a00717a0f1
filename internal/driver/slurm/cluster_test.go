package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
	"berth/test/support/slurmtest"
)

// TestCluster runs tests that do not harm each other on one cluster. Tests that fill a node use node n8,
// and tests of preemption use n7.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Extra("PreemptType=preempt/partition_prio"), slurmtest.Extra("PreemptMode=CANCEL"),
		slurmtest.Extra("PartitionName=one Nodes=n8"), slurmtest.Extra("PartitionName=high Nodes=n7 PriorityTier=10 PreemptMode=OFF"),
		slurmtest.Extra("PartitionName=gate Nodes=n1"))
	t.Run("a snapshot shows the queue as it is", func(t *testing.T) { testSnapshot(t, c) })
	for _, test := range []struct {
		name string
		run  func(*testing.T, *slurmtest.Cluster)
	}{
		{"a waiting job reports the reason and its start", testWaits},
		{"a request that Slurm refuses is refused in Slurm's words", testRefused},
		{"a job that can never start is given up", testNever},
		{"a job waits for a closed partition", testClosed},
		{"a job that others cancel has ended", testCancelled},
		{"a preempted job has ended", testPreempted},
		{"a worker that cannot run is given up", testGivesUp},
		{"workers that end give the nodes back", testEnds},
		{"the environment of Slurm and of jobs", testEnvironment},
		{"a later driver adopts existing jobs", testAdopts},
		{"jobs of unknown allocations are cancelled", testSweep},
		{"an allocation that was not adopted is released by its folder", testReleaseNoted},
		{"the end of a job may change", testMoved},
		{"workers outlive srun", testStep},
		{"a wake-up job is kept submitted", testWake},
		{"the driver's own allocation is released last", testWakeOwn},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, c)
		})
	}
}

func testSnapshot(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	running := c.Fill(t, slurmtest.Load{Nodes: 2, CPUs: 2, Seconds: 600, Limit: 30, Args: []string{"--mem=700"}})
	c.WaitState(t, running, "RUNNING")
	pending := c.Fill(t, slurmtest.Load{Nodes: 8, Seconds: 1, Limit: 5, Args: []string{"--exclusive"}})
	held := c.Fill(t, slurmtest.Load{Args: []string{"--hold", "--array=1-4"}})
	defer c.Run(t, "scancel", running, pending, held)
	c.Run(t, "scontrol", "update", "NodeName=n5", "State=DRAIN", "Reason=bad disk")
	defer c.Run(t, "scontrol", "update", "NodeName=n5", "State=RESUME")

	snap, err := b.d.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	q := snap.Queue
	if len(snap.Nodes) != 8 || snap.Nodes[4].Down != "drained: bad disk" || snap.Nodes[0].Down != "" {
		t.Errorf("nodes %+v", snap.Nodes)
	}
	if n := snap.Nodes[0]; n.Capacity != (job.Resources{CPUs: 2, Mem: 2000 << 20}) || n.Free != (job.Resources{Mem: 1300 << 20}) {
		t.Errorf("a full node: %+v", n)
	}
	if q.Cluster != "berth" || q.User == "" || len(q.Partitions) != 5 || q.Grain != time.Minute {
		t.Errorf("queue %+v", q)
	}
	if len(q.Running) != 1 || q.Running[0].ID != running || !slices.Equal(q.Running[0].Nodes, []int{0, 1}) ||
		q.Running[0].Limit != 30*time.Minute || q.Running[0].PerNode != (job.Resources{CPUs: 2, Mem: 700 << 20}) || q.Running[0].User != q.User {
		t.Errorf("running %+v", q.Running)
	}
	if len(q.Pending) != 2 || q.Pending[0].ID != pending || !q.Pending[0].Whole || q.Pending[0].Count != 8 ||
		q.Pending[1].Held == "" || q.Pending[1].Repeat != 4 {
		t.Errorf("pending %+v", q.Pending)
	}
	if short := q.Partitions[slices.IndexFunc(q.Partitions, func(p cluster.Partition) bool { return p.Name == slurmtest.Short })]; short.MaxTime != 10*time.Minute || short.MaxNodes != 4 || short.Default {
		t.Errorf("partition %+v", short)
	}
}

func testWaits(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	full := c.Fill(t, slurmtest.Load{CPUs: 2, Seconds: 600, Limit: 10, Args: []string{"--partition=one"}})
	c.WaitState(t, full, "RUNNING")
	req := b.request("a1", 1, job.Batch{Partition: "one", Name: "waits"})
	note := b.noted("a1", "its nodes are not free yet")
	if note.Start < now().Add(8*time.Minute) {
		note = report(b, func(n step.AllocNote) bool { return n.Start > 0 })
	}
	if note.Start < now().Add(8*time.Minute) || note.Start > now().Add(11*time.Minute) {
		t.Errorf("its predicted start is %v", note.Start.Std())
	}
	start, err := b.d.Test(t.Context(), req)
	if err != nil || start < note.Start {
		t.Errorf("the predicted start of another job is %v (%v), before the first one, %v", start.Std(), err, note.Start.Std())
	}
	id := b.job("a1")
	if name := c.Run(t, "squeue", "-h", "-j", id, "-o", "%j"); name != "waits" {
		t.Errorf("the job's name is %q", name)
	}
	b.release("a1")
	c.WaitState(t, id, "CANCELLED")

	b.request("a2", 1, job.Batch{Partition: "one"})
	b.noted("a2", "waits")
	c.Run(t, "scancel", full)
	if up := b.up("a2"); up.Ends < now().Add(8*time.Minute) || up.Ends > now().Add(10*time.Minute) {
		t.Errorf("it ends at %v", up.Ends.Std())
	}
}

func testRefused(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	for _, r := range []struct {
		id    job.AllocID
		batch job.Batch
		says  string
	}{
		{"a1", job.Batch{Partition: "nope"}, "invalid partition specified: nope"},
		{"a2", job.Batch{Constraint: "nope"}, "Invalid feature specification"},
		{"a3", job.Batch{Args: []string{"--bogus"}}, "unrecognized option '--bogus'"},
		{"a4", job.Batch{Args: []string{"--reservation=nope"}}, "reservation is invalid"},
	} {
		req := b.request(r.id, 1, r.batch)
		b.down(r.id, r.says, true)
		if _, err := b.d.Test(t.Context(), req); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), r.says[strings.LastIndexByte(r.says, ':')+1:]) && r.id != "a1" {
			t.Errorf("%s tested: %v", r.id, err)
		}
		b.poll("its folder is gone", func() bool { _, err := os.Stat(b.file(r.id, "")); return os.IsNotExist(err) })
	}
}

func testNever(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Time: 11 * time.Minute, Batch: job.Batch{Partition: slurmtest.Short}}
	if err := b.d.Request(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	id := b.job("a1")
	b.down("a1", "a longer wall time than its partition allows", true)
	c.WaitState(t, id, "CANCELLED")
}

func testClosed(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	c.Run(t, "scontrol", "update", "PartitionName=gate", "State=DRAIN")
	b.request("a1", 1, job.Batch{Partition: "gate"})
	b.noted("a1", "Required partition not available")
	c.Run(t, "scontrol", "update", "PartitionName=gate", "State=UP")
	b.up("a1")
}

func testCancelled(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	b.request("a1", 2, job.Batch{})
	b.up("a1")
	c.Run(t, "scancel", b.job("a1"))
	b.down("a1", "cancelled, and not by berth", false)
}

func testPreempted(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	b.request("a1", 1, job.Batch{Args: []string{"--nodelist=n7"}, Exclusive: true})
	b.up("a1")
	other := c.Fill(t, slurmtest.Load{CPUs: 2, Seconds: 0.1, Args: []string{"--partition=high"}})
	b.down("a1", "preempted", false)
	c.WaitState(t, other, "COMPLETED")
}

func testGivesUp(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "echo no license >&2\nexit 3\n")
	b.request("a1", 1, job.Batch{})
	b.up("a1")
	b.down("a1", "the worker of a1/0 ends as soon as it starts: ", true)
	log, err := os.ReadFile(b.file("a1", "0.log"))
	if err != nil || strings.Count(string(log), "no license") != 5 {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func testEnds(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "exit 0\n")
	b.request("a1", 2, job.Batch{})
	b.down("a1", "its workers have ended", false)
}

// testEnvironment checks that variables that users set for their own commands change nothing, in a folder
// whose name contains special characters of shells and of Slurm.
func testEnvironment(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "env >\"$3.env\"\n"+idle)
	b.opts.Dir = filepath.Join(t.TempDir(), `it's [1] "%j" $HOME`)
	b.opts.Env = append(b.opts.Env, "SBATCH_PARTITION=nope", "SBATCH_EXPORT=NONE", "SQUEUE_FORMAT=%i", "SQUEUE_STATES=CANCELLED", "SLURM_JOB_ID=1",
		"SLURM_NTASKS=7", "SLURM_TIME_FORMAT=relative", "SECRET=1", "SINFO_FORMAT=%N", "LC_ALL=de_DE.UTF-8", "PATH=/opt/mine:"+os.Getenv("PATH"))
	b.d = batch.New(b.opts)
	b.request("a1", 1, job.Batch{})
	b.up("a1")
	path := b.file("a1", "0.json")
	var env []string
	b.poll("the worker runs", func() bool {
		text, _ := os.ReadFile(path + ".env")
		env = strings.Split(string(text), "\n")
		return job.Getenv(env, "SLURM_PROCID") == "0" && job.Getenv(env, "PATH") != ""
	})
	if job.Getenv(env, "SECRET") != "" || job.Getenv(env, "SLURM_NTASKS") != "1" || !strings.HasPrefix(job.Getenv(env, "PATH"), "/opt/mine:") || job.Getenv(env, "HOME") != os.Getenv("HOME") {
		t.Errorf("the worker's environment: %q", env)
	}
	var cfg wire.WorkerConfig
	if err := statedir.ReadJSON(path, &cfg); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(cfg.Scratch, wire.TokenName))
	if cfg.Token == "" || string(text) != cfg.Token || err != nil || filepath.Dir(cfg.Scratch) != b.opts.Scratch {
		t.Errorf("token %q in %s, %q in the config (%v)", text, cfg.Scratch, cfg.Token, err)
	}
	if _, err := os.Stat(b.file("a1", "slurm.log")); err != nil {
		t.Error(err)
	}
}

// testAdopts checks all points at which a coordinator may die between submitting a job and recording it.
func testAdopts(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	req := b.request("a1", 1, job.Batch{})
	id := b.job("a1")
	up := b.up("a1")
	adopt := func() {
		t.Helper()
		if err := b.d.Adopt(t.Context(), "a1", req); err != nil {
			t.Fatal(err)
		}
	}
	jobs := func() []string {
		return strings.Fields(c.Run(t, "squeue", "-h", "-t", "all", "-O", "JobID:|,Command:|", "--name="+filepath.Base(script(t, b, "a1"))))
	}
	before := len(jobs())

	b.succeed() // the job's id was recorded
	adopt()
	if again := b.up("a1"); again != up {
		t.Errorf("it is up as %+v, and was as %+v", again, up)
	}

	b.succeed() // sbatch had ended, and its output was lost
	if err := os.Truncate(b.file("a1", "job"), 0); err != nil {
		t.Fatal(err)
	}
	adopt()
	b.up("a1")
	if found := b.job("a1"); found != id {
		t.Errorf("job %s was taken for %s", found, id)
	}

	b.succeed() // sbatch still runs
	if err := os.Truncate(b.file("a1", "job"), 0); err != nil {
		t.Fatal(err)
	}
	f, err := statedir.TryLock(b.file("a1", "job"))
	if err != nil {
		t.Fatal(err)
	}
	adopt()
	b.noted("a1", "an earlier submission is still under way")
	if _, err := f.WriteString(id + "\n"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	b.up("a1")
	if after := len(jobs()); after != before {
		t.Errorf("there are %d jobs, and were %d", after, before)
	}
}

func script(t *testing.T, b *bed, id job.AllocID) string {
	t.Helper()
	entries, err := os.ReadDir(b.file(id, "")) // the folder's name may contain characters of patterns
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "batch-") {
			return b.file(id, e.Name())
		}
	}
	t.Fatalf("no script: %v", err)
	return ""
}

func testSweep(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	kept := b.request("a1", 1, job.Batch{})
	b.request("a2", 1, job.Batch{})
	known, unknown := b.job("a1"), b.job("a2")
	b.succeed()
	if err := b.d.Adopt(t.Context(), "a1", kept); err != nil {
		t.Fatal(err)
	}
	if err := b.d.Sweep([]job.AllocID{"a1"}); err != nil {
		t.Fatal(err)
	}
	c.WaitState(t, unknown, "CANCELLED")
	b.poll("its folder is gone", func() bool { _, err := os.Stat(b.file("a2", "")); return os.IsNotExist(err) })
	if state, err := c.State(known); err != nil || state != "RUNNING" && state != "PENDING" {
		t.Errorf("the job in use is %s, %v", state, err)
	}
}

// testReleaseNoted checks that a coordinator releases an allocation that an earlier one recorded as released,
// without having released it. The later coordinator does not adopt it.
func testReleaseNoted(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	b.request("a1", 1, job.Batch{})
	id := b.job("a1")
	b.succeed()
	if err := b.d.Release(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
	c.WaitState(t, id, "CANCELLED")
	if err := b.d.Release(t.Context(), "a2"); err != nil {
		t.Errorf("an allocation that never existed: %v", err)
	}
}

func testMoved(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, idle)
	b.request("a1", 1, job.Batch{})
	first := b.up("a1")
	c.Run(t, "scontrol", "update", "JobId="+b.job("a1"), "TimeLimit=20")
	if second := b.up("a1"); second.Ends != first.Ends.Add(10*time.Minute) {
		t.Errorf("it ends at %v, then at %v", first.Ends.Std(), second.Ends.Std())
	}
}
