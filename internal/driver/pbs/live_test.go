package pbs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
	"berth/test/support/batchtest"
	"berth/test/support/pbstest"
)

// TestQueue runs the tests that need the cluster of all tests for themselves.
func TestQueue(t *testing.T) {
	c := aCluster(t)
	t.Run("a snapshot shows the queue as it is", func(t *testing.T) { testSnapshot(t, c) })
	t.Run("a waiting job reports its reason and its start", func(t *testing.T) { testWaits(t, c) })
	t.Run("a hidden queue is told of, and nodes show what is free", func(t *testing.T) { testHidden(t, c) })
	t.Run("only a reservation's own users have its nodes", func(t *testing.T) { testReservation(t, c) })
}

// TestLive runs what PBS does otherwise than other batch systems, on the cluster of all tests.
func TestLive(t *testing.T) {
	t.Parallel()
	c := aCluster(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *pbstest.Cluster)
	}{
		{"what PBS refuses is refused in its words", testRefused},
		{"a request that can never run is found out before, and given up after", testNever},
		{"limits of queues are found out before", testLimits},
		{"a quality of service is refused", testQOS},
		{"a full queue is waited for", testFull},
		{"the reason of an end is told", testReasons},
		{"a job that uses too much memory says so", testMemory},
		{"variables of the user change nothing", testEnvironment},
		{"workers outlive pbsdsh", testPbsdsh},
		{"a dependency on a job that is gone ends a job", testDependency},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, c)
		})
	}
}

func testSnapshot(t *testing.T, c *pbstest.Cluster) {
	running := c.Fill(t, pbstest.Load{Nodes: 2, CPUs: 14, Seconds: 600, Limit: 30, Args: []string{"-A", "0012"}})
	c.WaitState(t, running, "R")
	array := c.Submit(t, "-J", "1-5", "-l", "select=1:ncpus=1:ngpus=1", "-l", "walltime=600", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "600")
	c.Poll(t, func() (bool, string) {
		n, err := c.Try("qselect", "-T", "-s", "R")
		return strings.Count(n, "[") == 2, "two tasks of the array do not run: " + n + " " + errText(err)
	})
	pending := c.Fill(t, pbstest.Load{Nodes: 3, CPUs: 2, Seconds: 1, Limit: 5, Args: []string{"-l", "place=scatter:excl"}})
	held := c.Fill(t, pbstest.Load{Args: []string{"-h"}})
	last := c.Node(t, 3)
	defer c.Run(t, "qdel", running, array, pending, held)
	c.Run(t, "qmgr", "-c", "set node "+last+" state=offline,comment='bad disk'")
	defer c.Run(t, "qmgr", "-c", "set node "+last+" state-=offline")
	snap, err := Open(append(os.Environ(), c.Env()...)).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	q := snap.Queue
	if len(snap.Nodes) != 3 || snap.Nodes[2].Down != "offline: bad disk" || snap.Nodes[0].Down != "" || snap.Nodes[0].Name != c.Node(t, 1) {
		t.Errorf("nodes %+v", snap.Nodes)
	}
	if q.Cluster != "localhost" || q.User != "root" || len(q.Partitions) != 2 || q.Hidden != "" || q.ID == "" {
		t.Errorf("queue %+v", q)
	}
	of := func(id string, list []cluster.Queued) (found cluster.Queued) {
		for _, j := range list {
			if j.ID == id {
				found = j
			}
		}
		return found
	}
	if j := of(running, q.Running); len(j.Nodes) != 2 || j.PerNode.CPUs != 14 || j.Limit != 30*time.Minute || j.User != "root" || j.Account != "0012" || j.Start == 0 {
		t.Errorf("running %+v", j)
	}
	tasks := 0
	for _, j := range q.Running {
		if strings.Contains(j.ID, "[") && len(j.Nodes) == 1 && j.PerNode.GPUs == 1 {
			tasks++
		}
	}
	if j := of(array, q.Pending); tasks != 2 || j.Repeat != 3 || j.PerNode.CPUs != 1 {
		t.Errorf("%d tasks run, and %+v waits", tasks, j)
	}
	if p, h := of(pending, q.Pending), of(held, q.Pending); p.Count != 3 || !p.Whole || p.Held != "" || !strings.Contains(h.Held, "qrls") {
		t.Errorf("pending %+v, held %+v", p, h)
	}
	if short := q.Partitions[1]; short.Name != pbstest.Short || short.MaxTime != 10*time.Minute || short.MaxNodes != 2 || short.Default || !q.Partitions[0].Default || len(short.Nodes) != 3 {
		t.Errorf("queues %+v", q.Partitions)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// testHidden looks at the queue as another user, to whom PBS does not show the jobs of others.
func testHidden(t *testing.T, c *pbstest.Cluster) {
	id := c.Fill(t, pbstest.Load{Nodes: 3, CPUs: 15, Seconds: 600, Limit: 10})
	c.WaitState(t, id, "R")
	defer c.Run(t, "qdel", id)
	c.Run(t, "qmgr", "-c", "set server query_other_jobs = false")
	defer c.Run(t, "qmgr", "-c", "set server query_other_jobs = true")
	program := filepath.Join(c.Dir, "look")
	c.Run(t, "cp", os.Args[0], program)
	cmd := exec.Command(program, "snapshot")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", append(os.Environ(), c.Env()...), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "daemon: 0 running; 1 CPUs are free on the first node; PBS does not show you the jobs of others") {
		t.Errorf("%s (%v)", out, err)
	}
}

func testWaits(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	full := c.Fill(t, pbstest.Load{Nodes: 3, CPUs: 16, Seconds: 600, Limit: 10})
	c.WaitState(t, full, "R")
	b.Request("a1", 1, job.Batch{Name: "waits in line"})
	note := b.Noted("a1", "PBS says: ")
	for note.Start == 0 {
		note = b.Noted("a1", "")
	}
	if note.Start < batchtest.Now().Add(8*time.Minute) || note.Start > batchtest.Now().Add(11*time.Minute) {
		t.Errorf("its predicted start is %v", note.Start.Std())
	}
	if name, _ := c.Job(b.Job("a1"), "Job_Name"); name != "waits_in_line" {
		t.Errorf("the job's name is %q", name)
	}
	c.Run(t, "qdel", full)
	if up := b.Up("a1"); up.Ends < batchtest.Now().Add(8*time.Minute) || up.Ends > batchtest.Now().Add(11*time.Minute) {
		t.Errorf("it ends at %v", up.Ends.Std())
	}
}

// testReservation: nodes of a reservation are kept, and a job that names its queue gets them.
func testReservation(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	out := c.Run(t, "pbs_rsub", "-R", time.Now().UTC().Add(time.Hour).Format("200601021504.05"), "-D", "600", "-l", "select=2:ncpus=16", "-l", "place=scatter:excl")
	id, _, _ := strings.Cut(out, " ")
	queue, _, _ := strings.Cut(id, ".")
	c.Poll(t, func() (bool, string) {
		state := c.Run(t, "pbs_rstat", "-f", id)
		return strings.Contains(state, "RESV_CONFIRMED"), state
	})
	snap, err := b.D.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if rs := snap.Queue.Reservations; len(rs) != 1 || rs[0].Name != queue || len(rs[0].Nodes) != 2 || !rs[0].Mine || rs[0].End.Sub(rs[0].Start) != 10*time.Minute || len(snap.Queue.Partitions) != 2 {
		t.Errorf("reservations %+v", rs)
	}
	b.Request("a1", 1, job.Batch{Partition: pbstest.Main, Args: []string{"-q" + queue}})
	if in, _ := c.Job(b.Job("a1"), "queue"); in != queue {
		t.Errorf("the job is in queue %s", in)
	}
	b.Release("a1")
	c.Run(t, "pbs_rdel", id)
}

func testRefused(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	for _, r := range []struct {
		id    job.AllocID
		batch job.Batch
		says  string
	}{
		{"a1", job.Batch{Partition: "nope"}, "Unknown queue"},
		{"a2", job.Batch{Constraint: "nope"}, "Unknown resource"},
		{"a3", job.Batch{Args: []string{"-Y"}}, "invalid option"},
		{"a4", job.Batch{Constraint: "a|b"}, "knows no alternatives"},
	} {
		b.Request(r.id, 1, r.batch)
		b.Down(r.id, r.says, true)
		b.Poll("its folder is gone", func() bool { _, err := os.Stat(b.File(r.id, "")); return os.IsNotExist(err) })
	}
}

// testNever: PBS accepts a request that no node can fulfil, and says so in the job's comment only.
func testNever(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	for _, r := range []struct {
		nodes int
		each  job.Resources
		says  string
	}{
		{4, share, "4 nodes with 500M of memory and 1 core each are needed, and there are only 3 nodes with so much"},
		{1, job.Resources{CPUs: 17}, "17 cores each are needed, and there are only 0 nodes with so much"},
		{2, job.Resources{CPUs: 1, GPUs: 1}, "only 1 node with so much"},
	} {
		_, err := b.D.Test(t.Context(), job.AllocRequest{Nodes: r.nodes, PerNode: r.each})
		if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), r.says) {
			t.Errorf("%d × %+v: %v", r.nodes, r.each, err)
		}
	}
	b.Request("a1", 4, job.Batch{})
	id := b.Job("a1")
	b.Down("a1", "Can Never Run", true)
	c.Poll(t, func() (bool, string) { return !c.Alive(t, id), "the job is still there" })
}

func testLimits(t *testing.T, c *pbstest.Cluster) {
	s := Open(append(os.Environ(), c.Env()...))
	c.Run(t, "qmgr", "-c", "create queue least queue_type=execution,enabled=true,started=true,resources_min.walltime=00:20:00,resources_min.ncpus=2,max_run_res.ncpus='[u:PBS_GENERIC=3]'")
	for _, r := range []struct {
		req  job.AllocRequest
		says string
	}{
		{job.AllocRequest{Nodes: 2, PerNode: share, Time: time.Minute, Batch: job.Batch{Partition: "least"}}, "a wall time must be 20m at least"},
		{job.AllocRequest{Nodes: 1, PerNode: share, Time: time.Hour, Batch: job.Batch{Partition: "least"}}, "a job must have ncpus=2 at least"},
		{job.AllocRequest{Nodes: 2, PerNode: job.Resources{CPUs: 2}, Time: time.Hour, Batch: job.Batch{Partition: "least"}}, "your jobs may have ncpus=3 at most together"},
		{job.AllocRequest{Nodes: 3, PerNode: share, Time: time.Hour, Batch: job.Batch{Partition: "least"}}, ""},
		{job.AllocRequest{Nodes: 3, PerNode: share, Batch: job.Batch{Partition: pbstest.Short}}, "a job may have nodect=2 at most"},
		{job.AllocRequest{Nodes: 1, PerNode: share, Time: time.Hour, Batch: job.Batch{Partition: pbstest.Short}}, "a wall time may be 10m at most"},
		{job.AllocRequest{Nodes: 2, PerNode: share, Time: time.Minute, Batch: job.Batch{Partition: pbstest.Short}}, ""},
	} {
		_, err := s.Test(t.Context(), r.req)
		if r.says == "" && err != nil || r.says != "" && (job.ClassOf(err) != job.User || !strings.Contains(err.Error(), r.says)) {
			t.Errorf("%+v: %v, want %q", r.req, err, r.says)
		}
	}
}

// testQOS: a quality of service is refused before anything is planned.
func testQOS(t *testing.T, c *pbstest.Cluster) {
	r := job.Request{QOS: "fast"}
	_, err := batch.Backend(system.Open).Observe(t.Context(), append(os.Environ(), c.Env()...), 0, &r)
	if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "--qos: PBS has no quality of service; leave it out") {
		t.Errorf("it is refused by %v", err)
	}
}

// testFull: a limit on a user's jobs in a queue delays a submission.
func testFull(t *testing.T, c *pbstest.Cluster) {
	c.Run(t, "qmgr", "-c", "create queue full queue_type=execution,enabled=true,started=true,max_queued='[u:PBS_GENERIC=1]'")
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Request("a1", 1, job.Batch{Partition: "full"})
	first := b.Job("a1")
	b.Up("a1")
	b.Request("a2", 1, job.Batch{Partition: "full"})
	b.Noted("a2", "does not accept its job now: would exceed")
	c.Run(t, "qdel", first)
	b.Poll("the second one is submitted", func() bool { text, _ := os.ReadFile(b.File("a2", "job")); return len(text) > 0 })
}

// testReasons: the wall time, and a deletion before the start. TestVerdict has the other reasons.
func testReasons(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	req := job.AllocRequest{On: Name, Nodes: 2, PerNode: share, Time: 2 * time.Second}
	if err := b.D.Request(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.Up("a1")
	b.Down("a1", "its wall time of 2s has passed", false)

	b.Request("a2", 1, job.Batch{Args: []string{"-h"}})
	b.Noted("a2", "its user holds it")
	c.Run(t, "qdel", b.Job("a2"))
	b.Down("a2", "cancelled before it started", false)
}

// testMemory: a job that used more memory than it requested says so. Moms count no processes of root, so it is another user's.
func testMemory(t *testing.T, c *pbstest.Cluster) {
	s := Open(append(os.Environ(), c.Env()...))
	cmd := exec.Command(filepath.Join(c.Home, c.Bin, "qsub"), "-f", "-S", "/bin/sh", "-l", "select=1:ncpus=1:mem=50mb", "-l", "walltime=600", "-o", "/dev/null", "-j", "oe")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", append(os.Environ(), c.Env()...), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}}
	cmd.Stdin = strings.NewReader("(head -c 300000000 /dev/zero; sleep 600) | tail\n") // tail keeps all of it, as it has no line
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := batch.Job{ID: s.JobID(string(out)), Dir: t.TempDir(), Explain: true, Request: job.AllocRequest{Nodes: 1, PerNode: job.Resources{Mem: 50 << 20}}}
	c.Poll(t, func() (bool, string) {
		all, err := s.Jobs(t.Context(), []batch.Job{j})
		return all[j.ID].Phase == batch.Over && all[j.ID].Verdict.Reason == batch.OutOfMemory(j.Request), fmt.Sprintf("job %s is %+v, %v", j.ID, all[j.ID], err)
	})
}

// testEnvironment: options and formats that the user sets for other purposes do not reach PBS's commands, and a job's script does not
// depend on the PATH and the folder that PBS gives it.
func testEnvironment(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, "env >\"$3.env\"; pwd >>\"$3.env\"\n"+batchtest.Idle)
	b.Opts.Env = append(b.Opts.Env, "PBS_QSUB_ARGS=-q nope -h", "LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo", "SECRET=1", "PBS_DPREFIX=#X")
	b.D = batch.New(b.Opts)
	before := batchtest.Now()
	b.Request("a1", 1, job.Batch{})
	if up := b.Up("a1"); up.Ends < before.Add(9*time.Minute) || up.Ends > before.Add(15*time.Minute) {
		t.Errorf("it ends at %v", up.Ends.Std())
	}
	var env []string
	b.Poll("the worker runs", func() bool {
		text, _ := os.ReadFile(b.File("a1", "0.json.env"))
		env = strings.Split(strings.TrimSpace(string(text)), "\n")
		return slices.Contains(env, "/")
	})
	if job.Getenv(env, "SECRET") != "" || job.Getenv(env, "HOME") != os.Getenv("HOME") || job.Getenv(env, "PBS_JOBID") == "" {
		t.Errorf("the worker's environment: %q", env)
	}
	if d, _ := Open(b.Opts.Env).Defaults(); d.Partition != "nope" {
		t.Errorf("defaults %+v", d)
	}
}

// testPbsdsh kills pbsdsh, whose exit says nothing: the workers go on, and it is started again. A later loop owns each rank then.
func testPbsdsh(t *testing.T, c *pbstest.Cluster) {
	b := batchtest.NewBed(t, system, c, "echo $$ >>\"$3.pids\"\n"+batchtest.Idle)
	b.Request("a1", 2, job.Batch{})
	b.Up("a1")
	pids := func(rank string) []string {
		text, _ := os.ReadFile(b.File("a1", rank+".json.pids")) // none has begun
		return strings.Fields(string(text))
	}
	b.Poll("both workers run", func() bool { return len(pids("0")) == 1 && len(pids("1")) == 1 })
	if out, err := exec.Command("pkill", "-9", "-f", "/pbsdsh -- .*"+filepath.Dir(b.File("a1", "x"))+"$").CombinedOutput(); err != nil {
		t.Fatalf("no pbsdsh runs: %v %s", err, out)
	}
	b.Poll("pbsdsh is started again", func() bool {
		text, _ := os.ReadFile(b.File("a1", Name+".log"))
		return strings.Contains(string(text), "before its workers did") && len(pids("0")) == 2 && len(pids("1")) == 2
	})
	for _, rank := range []string{"0", "1"} {
		if err := exec.Command("kill", "-0", pids(rank)[0]).Run(); err != nil {
			t.Errorf("the worker of rank %s has ended: %v", rank, err)
		}
	}
	if !c.Alive(t, b.Job("a1")) {
		t.Error("the job has ended")
	}
}

// testDependency: PBS accepts a dependency on a job that it does not know, and then deletes the new job without a word. So nobody may take
// an accepted wake-up job for one that waits.
func testDependency(t *testing.T, c *pbstest.Cluster) {
	s := Open(append(os.Environ(), c.Env()...))
	dir := t.TempDir()
	script := filepath.Join(dir, "batch-0123.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	submit := func(w batch.Wait) string {
		t.Helper()
		out, err := os.Create(filepath.Join(dir, "job"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = out.Close() }()
		id, err := s.Submit(t.Context(), batch.Submission{Request: job.AllocRequest{Nodes: 1, PerNode: share, Time: time.Minute}, Script: script, Dir: dir, Wait: w}, out)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	phase := func(id string) batch.Phase {
		t.Helper()
		all, err := s.Jobs(t.Context(), []batch.Job{{ID: id}, {ID: "99999.localhost"}})
		if err != nil {
			t.Fatal(err)
		}
		return all[id].Phase
	}
	first := submit(batch.Wait{Delay: time.Hour})
	if found, err := s.Find(t.Context(), script); found != first || err != nil {
		t.Errorf("found %q, %v; want %s", found, err, first)
	}
	if err := s.Delay(t.Context(), first, batch.Wait{After: []string{"99999.localhost"}}); err == nil {
		if p := phase(first); p == batch.Running {
			t.Errorf("its phase is %v", p)
		}
	}
	_ = s.Cancel(t.Context(), first, false) // it may be gone
	if id := submit(batch.Wait{After: []string{"99999.localhost"}}); phase(id) == batch.Waiting {
		t.Error("the job waits for one that nobody knows")
	}
	if err := s.Cancel(t.Context(), "99999.localhost", false); err == nil || job.ClassOf(err) != job.User {
		t.Errorf("a job that never was is cancelled: %v", err)
	}
}

// TestFaults kills parts of PBS, one after the other, and stops its server.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := pbstest.Start(t, pbstest.Nodes(3))
	b := batchtest.NewBed(t, system, c, batchtest.Idle)

	// The server dies while one job runs and another one is requested.
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	first := b.Job("a1")
	if err := Open(b.Opts.Env).Available(t.Context()); err != nil {
		t.Errorf("with a server: %v", err)
	}
	c.Stop(t, pbstest.Server)
	if err := Open(b.Opts.Env).Available(t.Context()); job.ClassOf(err) != job.Transient || !strings.Contains(err.Error(), "no PBS server answers") {
		t.Errorf("without a server: %v", err)
	}
	b.Noted("a1", "has not answered since")
	b.Request("a2", 2, job.Batch{Exclusive: true})
	b.Noted("a2", "next try at")
	b.Release("a1") // PBS cannot be reached now
	c.Start(t, pbstest.Server)
	b.Up("a2")
	c.Poll(t, func() (bool, string) { return !c.Alive(t, first), "the released job is there" })
	b.Poll("both loops run", func() bool { return b.Host("a2", 0) != "" && b.Host("a2", 1) != "" })

	// A server that is stopped lets its clients hang.
	c.Pause(t, pbstest.Server)
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	if err := Open(b.Opts.Env).Available(soon); job.ClassOf(err) != job.Transient {
		t.Errorf("a stopped server: %v", err)
	}
	cancel()
	c.Continue(t, pbstest.Server)

	// A sister node dies: the job stays, and the snapshot shows the node. Then the node with the job's script dies.
	script, sister := b.Host("a2", 0), b.Host("a2", 1)
	c.Crash(t, sister)
	c.WaitNode(t, sister, "down", "state-unknown,down", "down,job-exclusive")
	snap, err := b.D.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(snap.Nodes, func(n cluster.Node) bool { return n.Name == sister }); i < 0 || snap.Nodes[i].Down == "" {
		t.Errorf("the snapshot has the dead node as %+v", snap.Nodes)
	}
	if state, err := c.State(b.Job("a2")); state != "R" {
		t.Errorf("the job is %s, %v", state, err)
	}
	c.Crash(t, script)
	b.Down("a2", "a node of it failed", false)
}

// TestForgotten: a server without a history forgets jobs at once. A job that it has forgotten counts as ended.
func TestForgotten(t *testing.T) {
	t.Parallel()
	c := pbstest.Start(t, pbstest.Nodes(1), pbstest.Extra("set server job_history_enable = false"))
	b := batchtest.NewBed(t, system, c, batchtest.Idle)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	c.Run(t, "qdel", b.Job("a1"))
	b.Down("a1", "PBS does not know it any more", false)
}
