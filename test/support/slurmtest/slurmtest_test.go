package slurmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCluster uses one cluster for all that does not hurt what comes after.
func TestCluster(t *testing.T) {
	c := Start(t, Extra("PartitionName=low Nodes=ALL PriorityTier=1"))
	for _, test := range []struct {
		name string
		run  func(*testing.T, *Cluster)
	}{
		{"nodes and partitions are as asked for", testShape},
		{"a batch script starts a task on each of its nodes", testSteps},
		{"a job that waits has a planned start", testPlan},
		{"a drained node takes no job", testDrain},
		{"a reservation keeps jobs away", testReservation},
		{"a job that was written down survives slurmctld", testController},
		{"a job survives slurmd", testNode},
		{"a crash leaves no process of the node", testCrash},
	} {
		if !t.Run(test.name, func(t *testing.T) { test.run(t, c) }) {
			return // the cluster may be in any state
		}
	}
}

func testShape(t *testing.T, c *Cluster) {
	got := lines(c.Run(t, "sinfo", "-h", "-o", "%R %D %T %c %m %l"))
	want := []string{"low 8 idle 2 2000 infinite", "main 8 idle 2 2000 infinite", "short 8 idle 2 2000 10:00"}
	if !slices.Equal(got, want) {
		t.Errorf("sinfo: %q, want %q", got, want)
	}
	id := c.Submit(t, "--partition="+Short, "--time=11", "--wrap=true")
	c.Poll(t, func() (bool, string) {
		why := c.Run(t, "squeue", "-h", "-j", id, "-o", "%T %r")
		return why == "PENDING PartitionTimeLimit", "eleven minutes in a partition of ten: " + why
	})
	c.Run(t, "scancel", id)
	if _, err := c.Try("sbatch", "--mem=2001", "--wrap=true"); err == nil {
		t.Error("2001 MB were taken where nodes have 2000")
	}
}

// lines are the lines of s in order, each once.
func lines(s string) []string {
	l := strings.Split(s, "\n")
	slices.Sort(l)
	return slices.Compact(l)
}

func testSteps(t *testing.T, c *Cluster) {
	id := c.Submit(t, "--nodes=3", "--ntasks-per-node=1", "--output=steps", "--export=ALL,MARK=from the test",
		`--wrap=srun sh -c 'echo "$SLURM_PROCID $SLURMD_NODENAME $SLURM_NNODES $MARK"'`)
	c.WaitState(t, id, "COMPLETED")
	out, err := os.ReadFile(filepath.Join(c.Dir, "steps"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 n1 3 from the test", "1 n2 3 from the test", "2 n3 3 from the test"}
	if got := lines(strings.TrimSpace(string(out))); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func testPlan(t *testing.T, c *Cluster) {
	first := c.Fill(t, Load{Nodes: 8, CPUs: 2, Seconds: 3600, Limit: 7})
	c.WaitState(t, first, "RUNNING")
	second := c.Fill(t, Load{Nodes: 5, Seconds: 0.1, Limit: 2})
	c.Poll(t, func() (bool, string) {
		end := c.Run(t, "squeue", "-h", "-j", first, "-o", "%e")
		start := c.Run(t, "squeue", "-h", "-j", second, "-o", "%S")
		return start == end, "the second job is planned for " + start + ", the first ends at " + end
	})
	c.Run(t, "scancel", first)
	c.WaitState(t, first, "CANCELLED")
	c.WaitState(t, second, "COMPLETED")
}

func testDrain(t *testing.T, c *Cluster) {
	c.Run(t, "scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
	id := c.Fill(t, Load{Nodes: 7, Seconds: 0.1})
	c.WaitState(t, id, "COMPLETED")
	if got := c.Run(t, "squeue", "-h", "-t", "all", "-j", id, "-o", "%N"); got != "n[1,3-8]" {
		t.Errorf("ran on %s", got)
	}
	c.WaitNode(t, "n2", "drained")
	c.Run(t, "scontrol", "update", "NodeName=n2", "State=RESUME")
	c.WaitNode(t, "n2", "idle")
}

func testReservation(t *testing.T, c *Cluster) {
	user := c.Run(t, "id", "-un")
	c.Run(t, "scontrol", "create", "reservation", "ReservationName=held", "StartTime=now", "Duration=60", "Nodes=n[1-4]", "Users="+user)
	c.WaitNode(t, "n1", "reserved")
	id := c.Fill(t, Load{Nodes: 1, Seconds: 0.1})
	in := c.Fill(t, Load{Nodes: 1, Seconds: 0.1, Args: []string{"--reservation=held"}})
	c.WaitState(t, id, "COMPLETED")
	c.WaitState(t, in, "COMPLETED")
	if got := c.Run(t, "squeue", "-h", "-t", "all", "-j", id+","+in, "-S", "i", "-o", "%N"); got != "n5\nn1" {
		t.Errorf("ran on %q", got)
	}
	c.Run(t, "scontrol", "delete", "ReservationName=held")
	c.WaitNode(t, "n1", "idle")
}

func testController(t *testing.T, c *Cluster) {
	id := c.Fill(t, Load{Nodes: 8, CPUs: 2, Seconds: 3600, Limit: 60})
	waits := c.Fill(t, Load{Nodes: 2, Seconds: 0.1})
	c.WaitState(t, id, "RUNNING")
	c.WaitSaved(t, id)
	c.WaitSaved(t, waits)
	c.Stop(t, Ctld)
	// Other commands would ask again for many seconds.
	if out, err := c.Try("scontrol", "ping"); err == nil && !strings.Contains(out, "DOWN") {
		t.Error("a slurmctld that was killed answers")
	}
	c.Start(t, Ctld)
	c.WaitState(t, id, "RUNNING")
	c.WaitState(t, waits, "PENDING")
	c.Run(t, "scancel", id)
	c.WaitState(t, waits, "COMPLETED")
}

func testNode(t *testing.T, c *Cluster) {
	id := c.Submit(t, "--nodes=2", "--nodelist=n[4-5]", "--ntasks-per-node=1", "--output=/dev/null", "--time=5",
		"--wrap=srun sh -c 'echo $$ > up.$SLURMD_NODENAME; until [ -e go ]; do sleep 0.2; done'")
	pid := c.waitPID(t, "up.n5")
	c.Stop(t, "n5")
	c.Start(t, "n5")
	if !alive(pid) {
		t.Error("the task ended with slurmd")
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c.WaitState(t, id, "COMPLETED")
}

func testCrash(t *testing.T, c *Cluster) {
	id := c.Submit(t, "--nodes=2", "--nodelist=n[6-7]", "--ntasks-per-node=1", "--output=/dev/null", "--time=5", "--no-kill",
		"--wrap=srun --no-kill --kill-on-bad-exit=0 sh -c 'echo $$ > here.$SLURMD_NODENAME; setsid sleep 3600 & sleep 3600'")
	lives, dies := c.waitPID(t, "here.n6"), c.waitPID(t, "here.n7")
	c.Crash(t, "n7")
	c.Poll(t, func() (bool, string) { return !alive(dies), "the task on the node that crashed lives" })
	if !alive(lives) {
		t.Error("the task on the other node is gone")
	}
	c.Start(t, "n7")
	c.Run(t, "scancel", id)
	c.WaitNode(t, "n6", "idle")
}

// waitPID waits for a file with a process id in the cluster's folder.
func (c *Cluster) waitPID(t *testing.T, name string) string {
	t.Helper()
	var pid string
	c.Poll(t, func() (bool, string) {
		b, err := os.ReadFile(filepath.Join(c.Dir, name))
		pid = strings.TrimSpace(string(b))
		return err == nil && strings.HasSuffix(string(b), "\n"), name + " has no process id yet"
	})
	return pid
}

// alive is false for a process that ended, waited for or not: the latter has no command line.
func alive(pid string) bool {
	args, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return err == nil && len(args) > 0
}

// TestEnd looks for what a cluster leaves behind: nothing, whatever its jobs did.
func TestEnd(t *testing.T) {
	var dir, step, stray string
	t.Run("cluster", func(t *testing.T) {
		c := Start(t, Nodes(2), CPUs(1), Memory(500))
		c.Setenv(t)
		if got, want := os.Getenv("SLURM_CONF"), filepath.Join(c.Dir, "cluster", "slurm.conf"); got != want {
			t.Errorf("SLURM_CONF is %s, want %s", got, want)
		}
		c.Submit(t, "--nodes=2", "--output=/dev/null", "--wrap=srun sh -c 'setsid sh -c \"echo \\$\\$ > stray; exec sleep 3600\" & echo $$ > step; trap \"\" TERM; while :; do sleep 1; done'")
		dir, step, stray = c.Dir, c.waitPID(t, "step"), c.waitPID(t, "stray")
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if os.Getenv("SLURM_CONF") == filepath.Join(dir, "cluster", "slurm.conf") {
		t.Error("SLURM_CONF outlives the cluster")
	}
	for end := time.Now().Add(5 * time.Minute); alive(step) || alive(stray); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("tasks outlive the cluster")
		}
	}
	if left := mentioning(t, dir); len(left) > 0 {
		t.Errorf("daemons outlive the cluster: %q", left)
	}
}

// mentioning are the command lines of processes that have text in them.
func mentioning(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if args, err := os.ReadFile(f); err == nil && strings.Contains(string(args), text) {
			found = append(found, strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}

// TestOrdinaryUser: the cluster of a user without rights runs that user's jobs.
func TestOrdinaryUser(t *testing.T) {
	opts := []Option{Nodes(2)}
	if os.Geteuid() == 0 {
		opts = append(opts, as(1, 1)) // daemon, everywhere; newer Slurms have no user called nobody
	}
	c := Start(t, opts...)
	id := c.Submit(t, "--nodes=2", "--ntasks-per-node=1", "--output=who", "--wrap=srun id -u")
	c.WaitState(t, id, "COMPLETED")
	out, err := os.ReadFile(filepath.Join(c.Dir, "who"))
	if want := c.Run(t, "id", "-u"); err != nil || want == "0" || !slices.Equal(strings.Fields(string(out)), []string{want, want}) {
		t.Errorf("tasks ran as %q (%v), want %s twice", out, err, want)
	}
}

// TestSkipped: BERTH_NO_SLURM is for machines on which Slurm cannot be installed.
func TestSkipped(t *testing.T) {
	t.Setenv("BERTH_NO_SLURM", "1")
	skipped := false
	t.Run("cluster", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Start(t)
		t.Error("a cluster was started")
	})
	if !skipped {
		t.Error("not skipped")
	}
}

// inChild names the variable that makes TestDeath the process that dies, and says
// where to leave the name of the cluster's folder.
const inChild = "SLURMTEST_CHILD"

// TestDeath: a test process that is killed leaves no cluster behind.
func TestDeath(t *testing.T) {
	if file := os.Getenv(inChild); file != "" {
		c := Start(t, Nodes(1))
		if err := os.WriteFile(file, []byte(c.Dir), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	file := filepath.Join(t.TempDir(), "dir")
	child := exec.Command(os.Args[0], "-test.run=^TestDeath$")
	child.Env = append(os.Environ(), inChild+"="+file)
	out, err := child.CombinedOutput()
	dir, readErr := os.ReadFile(file)
	if err == nil || readErr != nil {
		t.Fatalf("the child said %s (%v, %v)", out, err, readErr)
	}
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		_, err := os.Stat(string(dir))
		if left := mentioning(t, string(dir)); os.IsNotExist(err) && len(left) == 0 {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%s is still there (%v); %q", dir, err, left)
		}
	}
}

// as runs everything as another user, which requires root.
func as(uid, gid uint32) Option {
	return func(s *shape) { s.user = &syscall.Credential{Uid: uid, Gid: gid} }
}
