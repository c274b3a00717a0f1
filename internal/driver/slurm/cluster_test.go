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
	"berth/test/support/batchtest"
	"berth/test/support/slurmtest"
)

// TestCluster runs tests that do not harm each other on one cluster. Tests that fill a node use node n8,
// and tests of preemption use n7.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Extra("PreemptType=preempt/partition_prio"), slurmtest.Extra("PreemptMode=CANCEL"),
		slurmtest.Extra("PartitionName=one Nodes=n8"), slurmtest.Extra("PartitionName=high Nodes=n7 PriorityTier=10 PreemptMode=OFF"),
		slurmtest.Extra("PartitionName=gate Nodes=n1"), slurmtest.Extra("Licenses=matlab:4,db:10"))
	t.Run("a snapshot shows the queue as it is", func(t *testing.T) { testSnapshot(t, c) })
	batchtest.Run(t, system, c)
	t.Run("by scripts", func(t *testing.T) {
		t.Parallel()
		batchtest.Run(t, scripts(t), c)
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *slurmtest.Cluster)
	}{
		{"a waiting job reports the reason and its start", testWaits},
		{"a request that Slurm refuses is refused in Slurm's words", testRefused},
		{"a job that can never start is given up", testNever},
		{"a job waits for a closed partition", testClosed},
		{"a preempted job has ended", testPreempted},
		{"the environment of Slurm and of jobs", testEnvironment},
		{"the end of a job may change", testMoved},
		{"workers outlive srun", testStep},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, c)
		})
	}
}

func testSnapshot(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	running := c.Fill(t, slurmtest.Load{Nodes: 2, CPUs: 2, Seconds: 600, Limit: 30, Args: []string{"--mem=700", "--licenses=matlab:1"}})
	c.WaitState(t, running, "RUNNING")
	pending := c.Fill(t, slurmtest.Load{Nodes: 8, Seconds: 1, Limit: 5, Args: []string{"--exclusive"}})
	held := c.Fill(t, slurmtest.Load{Args: []string{"--hold", "--array=1-4"}})
	defer c.Run(t, "scancel", running, pending, held)
	c.Run(t, "scontrol", "update", "NodeName=n5", "State=DRAIN", "Reason=bad disk")
	defer c.Run(t, "scontrol", "update", "NodeName=n5", "State=RESUME")

	snap, err := b.D.Snapshot(t.Context(), "")
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
	if want := []cluster.Licence{{Name: "db", Total: 10, Free: 10}, {Name: "matlab", Total: 4, Free: 3}}; !slices.Equal(q.Licences, want) {
		t.Errorf("licences %+v", q.Licences)
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
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	full := c.Fill(t, slurmtest.Load{CPUs: 2, Seconds: 600, Limit: 10, Args: []string{"--partition=one"}})
	c.WaitState(t, full, "RUNNING")
	req := b.Request("a1", 1, job.Batch{Partition: "one", Name: "waits", Licences: "db=2,matlab=3"})
	note := b.Noted("a1", "its nodes are not free yet")
	if note.Start < batchtest.Now().Add(8*time.Minute) {
		note = batchtest.Report(b, func(n step.AllocNote) bool { return n.Start > 0 })
	}
	if note.Start < batchtest.Now().Add(8*time.Minute) || note.Start > batchtest.Now().Add(11*time.Minute) {
		t.Errorf("its predicted start is %v", note.Start.Std())
	}
	start, err := b.D.Test(t.Context(), req)
	if err != nil || start < note.Start {
		t.Errorf("the predicted start of another job is %v (%v), before the first one, %v", start.Std(), err, note.Start.Std())
	}
	id := b.Job("a1")
	if name := c.Run(t, "squeue", "-h", "-j", id, "-o", "%j %W"); name != "waits db:2,matlab:3" {
		t.Errorf("the job's name and licences are %q", name)
	}
	b.Release("a1")
	c.WaitState(t, id, "CANCELLED")

	b.Request("a2", 1, job.Batch{Partition: "one"})
	b.Noted("a2", "waits")
	c.Run(t, "scancel", full)
	if up := b.Up("a2"); up.Ends < batchtest.Now().Add(8*time.Minute) || up.Ends > batchtest.Now().Add(10*time.Minute) {
		t.Errorf("it ends at %v", up.Ends.Std())
	}
}

func testRefused(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
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
		req := b.Request(r.id, 1, r.batch)
		b.Down(r.id, r.says, true)
		if _, err := b.D.Test(t.Context(), req); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), r.says[strings.LastIndexByte(r.says, ':')+1:]) && r.id != "a1" {
			t.Errorf("%s tested: %v", r.id, err)
		}
		b.Poll("its folder is gone", func() bool { _, err := os.Stat(b.File(r.id, "")); return os.IsNotExist(err) })
	}
}

func testNever(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Time: 11 * time.Minute, Batch: job.Batch{Partition: slurmtest.Short}}
	if err := b.D.Request(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	id := b.Job("a1")
	b.Down("a1", "a longer wall time than its partition allows", true)
	c.WaitState(t, id, "CANCELLED")
}

func testClosed(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	c.Run(t, "scontrol", "update", "PartitionName=gate", "State=DRAIN")
	b.Request("a1", 1, job.Batch{Partition: "gate"})
	b.Noted("a1", "Required partition not available")
	c.Run(t, "scontrol", "update", "PartitionName=gate", "State=UP")
	b.Up("a1")
}

func testPreempted(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Request("a1", 1, job.Batch{Args: []string{"--nodelist=n7"}, Exclusive: true})
	b.Up("a1")
	other := c.Fill(t, slurmtest.Load{CPUs: 2, Seconds: 0.1, Args: []string{"--partition=high"}})
	b.Down("a1", "preempted", false)
	c.WaitState(t, other, "COMPLETED")
}

// testEnvironment checks that variables that users set for their own commands change nothing, in a folder
// whose name contains special characters of shells and of Slurm.
func testEnvironment(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, "env >\"$3.env\"\n"+batchtest.Idle)
	b.Opts.Dir = filepath.Join(t.TempDir(), `it's [1] "%j" $HOME`)
	b.Opts.Env = append(b.Opts.Env, "SBATCH_PARTITION=nope", "SBATCH_EXPORT=NONE", "SQUEUE_FORMAT=%i", "SQUEUE_STATES=CANCELLED", "SLURM_JOB_ID=1",
		"SLURM_NTASKS=7", "SLURM_TIME_FORMAT=relative", "SECRET=1", "SINFO_FORMAT=%N", "LC_ALL=de_DE.UTF-8", "PATH=/opt/mine:"+os.Getenv("PATH"))
	b.D = batch.New(b.Opts)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	path := b.File("a1", "0.json")
	var env []string
	b.Poll("the worker runs", func() bool {
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
	if cfg.Token == "" || string(text) != cfg.Token || err != nil || filepath.Dir(cfg.Scratch) != b.Opts.Scratch {
		t.Errorf("token %q in %s, %q in the config (%v)", text, cfg.Scratch, cfg.Token, err)
	}
	if _, err := os.Stat(b.File("a1", "slurm.log")); err != nil {
		t.Error(err)
	}
}

func testMoved(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Request("a1", 1, job.Batch{})
	first := b.Up("a1")
	c.Run(t, "scontrol", "update", "JobId="+b.Job("a1"), "TimeLimit=20")
	if second := b.Up("a1"); second.Ends != first.Ends.Add(10*time.Minute) {
		t.Errorf("it ends at %v, then at %v", first.Ends.Std(), second.Ends.Std())
	}
}
