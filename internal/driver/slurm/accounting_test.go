package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver/batch"
	"berth/test/support/batchtest"
	"berth/test/support/slurmtest"
)

// TestAccounting uses two clusters that share a slurmdbd. The first enforces limits, and ends steps that use more memory than
// they were allocated, as clusters without control groups do.
func TestAccounting(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(4), slurmtest.Accounting("berth", nil), slurmtest.Extra("JobAcctGatherType=jobacct_gather/linux"),
		slurmtest.Extra("JobAcctGatherFrequency=task=1"), slurmtest.Extra("JobAcctGatherParams=OverMemoryKill"),
		slurmtest.Extra("PartitionName=allow Nodes=n1 AllowAccounts=capped,timed"), slurmtest.Extra("PartitionName=deny Nodes=n1 DenyAccounts=timed"),
		slurmtest.Extra("PartitionName=qos Nodes=n1 AllowQos=brief,perjob"))
	for _, args := range []string{
		"add qos brief MaxWall=5", "add qos perjob MaxTRESPerJob=node=1", "add qos peruser MaxTRESPerUser=cpu=2", "add qos strict MaxWall=5 Flags=DenyOnLimit", "add qos broad MinTRESPerJob=cpu=4",
		"modify user root set qos+=brief,perjob,peruser,strict,broad", "add account capped cluster=berth GrpTRES=cpu=2", "add account below cluster=berth parent=capped", "add user root account=below cluster=berth",
		"add account timed cluster=berth MaxWall=3", "add user root account=timed cluster=berth",
	} {
		c.Run(t, "sacctmgr", append([]string{"-i"}, strings.Fields(args)...)...)
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *slurmtest.Cluster)
	}{
		{"a step that uses too much memory is not started again", testMemory},
		{"a request that a QOS never allows is given up", testLimits},
		{"the snapshot has the limits of accounting", testAllowed},
		{"jobs may run in the partitions that the snapshot says", testPartitionsFor},
		{"running jobs reduce a shared limit", testShared},
		{"arrays of other users are counted task by task", testArrays},
		{"a file by sacct says what berth asks for", testPastFile},
		{"sacct explains jobs that slurmctld has forgotten", testForgotten},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, c)
		})
	}
	t.Run("the environment selects another cluster", func(t *testing.T) {
		t.Parallel()
		testOther(t, c, slurmtest.Start(t, slurmtest.Nodes(1), slurmtest.Accounting("other", c)))
	})
}

// testOther checks that an environment in which SLURM_CLUSTERS names another cluster reaches that cluster only.
func testOther(t *testing.T, c, other *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Opts.Env = append(b.Opts.Env, "SLURM_CLUSTERS=other")
	b.D = batch.New(b.Opts)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	id := b.Job("a1")
	other.WaitState(t, id, "RUNNING")
	snap, err := b.D.Snapshot(t.Context(), "")
	if err != nil || snap.Queue.Cluster != "other" || len(snap.Nodes) != 1 || len(snap.Queue.Running) != 1 || snap.Queue.Running[0].ID != id {
		t.Errorf("the other cluster is seen as %+v, %v", snap, err)
	}
	other.Run(t, "scancel", id)
	b.Down("a1", "cancelled, and not by berth", false)
	c.Poll(t, func() (bool, string) {
		w := Open(b.Opts.Env).account(t.Context(), id)
		return strings.HasPrefix(w.state, "CANCELLED"), "sacct knows of job " + id + " of the other cluster: " + w.state
	})
	for _, names := range []string{"all", "berth,other"} {
		err := Open(append(options(t, c, t.TempDir()).Env, "SLURM_CLUSTERS="+names)).Available(t.Context())
		if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "several clusters") {
			t.Errorf("of the clusters %s: %v", names, err)
		}
	}
}

func testMemory(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, "head -c 600000000 /dev/zero | tail -n 1 | sleep 600\n")
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: job.Resources{CPUs: 1, Mem: 100 << 20}, Time: 10 * time.Minute, Elastic: true}
	if err := b.D.Request(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.Up("a1")
	b.Down("a1", "it ran out of memory: its tasks used more than the job's 100M on a node; give each task more by --mem", false)
	if text, _ := os.ReadFile(b.File("a1", Name+".log")); strings.Contains(string(text), "before its workers did") {
		t.Errorf("the step was begun again:\n%s", text)
	}
}

func testLimits(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	for _, r := range []struct {
		id    job.AllocID
		nodes int
		batch job.Batch
		says  string
	}{
		{"a1", 1, job.Batch{QOS: "brief"}, "longer wall time than the QOS allows"},
		{"a2", 2, job.Batch{QOS: "perjob"}, "more nodes than the QOS allows"},
		{"a3", 1, job.Batch{Account: "timed"}, "longer wall time than your account allows"},
		{"a4", 1, job.Batch{QOS: "strict"}, "QOSMaxWallDurationPerJobLimit"},
	} {
		b.Request(r.id, r.nodes, r.batch)
		b.Down(r.id, r.says, true)
	}
}

// testAllowed checks that a snapshot contains the limits of accounting, so that plans respect them.
func testAllowed(t *testing.T, c *slurmtest.Cluster) {
	snap, err := Open(options(t, c, t.TempDir()).Env).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		account, qos string
		want         cluster.Allowance
	}{
		{"", "", cluster.Allowance{}},
		{"", "brief", cluster.Allowance{Time: cluster.Limit{Value: int64(5 * time.Minute), By: "QOS brief"}}},
		{"", "broad", cluster.Allowance{Least: 4}},
		{"main", "perjob", cluster.Allowance{Nodes: cluster.Limit{Value: 1, By: "QOS perjob"}}},
		{"", "peruser", cluster.Allowance{CPUs: cluster.Limit{Value: 2, By: "QOS peruser"}}},
		{"timed", "", cluster.Allowance{Time: cluster.Limit{Value: int64(3 * time.Minute), By: "account timed"}}},
		{"below", "", cluster.Allowance{CPUs: cluster.Limit{Value: 2, By: "account below"}}}, // by the account above it
	} {
		if got := snap.Queue.Accounting.Allows(r.account, r.qos, &snap.Queue.Partitions[0]); got != r.want {
			t.Errorf("account %q, QOS %q: %+v, want %+v", r.account, r.qos, got, r.want)
		}
	}
}

// testPartitionsFor checks that Slurm lets jobs run in the partitions in which they may by their account and QOS, and in no other one.
func testPartitionsFor(t *testing.T, c *slurmtest.Cluster) {
	snap, err := Open(options(t, c, t.TempDir()).Env).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []cluster.Access{{}, {Account: "timed"}, {QOS: "brief"}, {Account: "below"}} {
		names, out := snap.Queue.PartitionsFor(by)
		for _, p := range []string{"allow", "deny", "qos"} {
			args := []string{"--partition=" + p, "--time=1", "--wrap=true"}
			if by.Account != "" {
				args = append(args, "--account="+by.Account)
			}
			if by.QOS != "" {
				args = append(args, "--qos="+by.QOS)
			}
			id := c.Submit(t, args...)
			said := c.Run(t, "scontrol", "-o", "show", "job", id)
			bars := strings.Contains(said, "not_permitted_to_use_this_partition")
			if bars == slices.Contains(names, p) {
				t.Errorf("%+v may use %v, and not %v; Slurm says of %s: %s", by, names, out, p, said)
			}
			c.Cancel(t, id)
		}
	}
}

// testShared checks how much of a shared limit running jobs leave, and the account and QOS of each job.
func testShared(t *testing.T, c *slurmtest.Cluster) {
	id := c.Submit(t, "--account=below", "--qos=normal", "--ntasks=1", "--mem=10", "--output=/dev/null", "--wrap=sleep 600")
	defer c.Run(t, "scancel", id)
	c.WaitState(t, id, "RUNNING")
	snap, err := Open(options(t, c, t.TempDir()).Env).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range snap.Queue.Running {
		if q.ID == id && (q.Account != "below" || q.QOS != "normal") {
			t.Errorf("the job is of account %q and QOS %q", q.Account, q.QOS)
		}
	}
	view := cluster.View{Partition: slurmtest.Main, PerNode: job.Resources{CPUs: 1}}
	if left := snap.Left("below", "", view); left == nil || left.At(snap.At) != 1 {
		t.Errorf("beside a job of one core, an account of two cores leaves %v", left)
	}
	if left := snap.Left("", "", view); left != nil {
		t.Errorf("an account without a limit leaves %v", left.Steps())
	}
}

// testArrays checks the tasks of another user's array, of which at most two may run at once.
func testArrays(t *testing.T, c *slurmtest.Cluster) {
	c.Run(t, "sacctmgr", "-i", "add", "user", "daemon", "account=main", "cluster=berth")
	id := c.Submit(t, "--uid=daemon", "--account=main", "--array=1-9:2,20,30-33%2", "--output=/dev/null", "--chdir=/", "--mem=10", "--wrap=sleep 600")
	defer c.Run(t, "scancel", id)
	c.Poll(t, func() (bool, string) {
		states := c.Run(t, "squeue", "-h", "-r", "-j", id, "-o", "%T")
		return strings.Count(states, "RUNNING") == 2, states
	})
	snap, err := Open(options(t, c, t.TempDir()).Env).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	running, pending := 0, 0
	for _, q := range snap.Queue.Running {
		if q.User == "daemon" {
			running++
		}
	}
	for _, q := range snap.Queue.Pending {
		if q.User == "daemon" {
			pending += max(q.Repeat, 1)
			if q.Held == "" {
				t.Errorf("%+v may begin beside two others", q)
			}
		}
	}
	if all := strings.Count(c.Run(t, "squeue", "-h", "-r", "-j", id, "-o", "%T")+"\n", "\n"); running != 2 || pending != 8 || all != 10 {
		t.Errorf("%d run and %d wait of %d tasks", running, pending, all)
	}
}

// testForgotten checks that sacct explains the end of jobs that slurmctld has forgotten.
func testForgotten(t *testing.T, c *slurmtest.Cluster) {
	s := Open(options(t, c, t.TempDir()).Env)
	for _, r := range []struct{ script, says string }{{"exit 3", "3"}, {"sleep 600", "cancelled by user 0"}} {
		id := c.Submit(t, "--output=/dev/null", "--mem=10", "--wrap="+r.script)
		if strings.HasPrefix(r.script, "sleep") {
			c.WaitState(t, id, "RUNNING")
			c.Run(t, "scancel", id)
		}
		c.Poll(t, func() (bool, string) {
			v := verdict(batch.Job{ID: id, Dir: t.TempDir(), Output: filepath.Join(t.TempDir(), "none")}, s.account(t.Context(), id))
			return strings.Contains(v.Reason+strconv.Itoa(v.Exit), r.says), "job " + id + ": " + v.Reason
		})
	}
}

// testPastFile checks that the file which a user writes with the printed command, whose times are local, says of a job what berth asks
// accounting for itself.
func testPastFile(t *testing.T, c *slurmtest.Cluster) {
	id := c.Fill(t, slurmtest.Load{Seconds: 1.5})
	c.WaitState(t, id, "COMPLETED")
	s := Open(append(os.Environ(), c.Env()...))
	from := job.Time(time.Now().Add(-time.Hour).UnixNano())
	ended := func(h starts.History, err error) int {
		if err != nil {
			t.Fatal(err)
		}
		return len(h.Ended)
	}
	c.Poll(t, func() (bool, string) { // accounting is written some seconds later
		out := c.Run(t, "sacct", append(strings.Fields(pastCommand)[1:], "--jobs="+id)...)
		h, err := readPast(out+"\n", "file", "nobody", from)
		return ended(h, err) == 1 && ended(s.Past(t.Context(), "nobody", from)) >= 1, out
	})
}
