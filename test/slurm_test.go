package test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/test/support/slurmtest"
)

// newSlurmWorld returns a user's login node of a real Slurm cluster with eight nodes.
func newSlurmWorld(t *testing.T) (*world, *slurmtest.Cluster) {
	t.Helper()
	c := slurmtest.Start(t)
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	return w, c
}

// slurmWorkers returns the process ids of the world's workers on all nodes.
func (w *world) slurmWorkers() []int {
	mark := []byte(filepath.Join(w.home().Server(), "slurm"))
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		cmdline, err := os.ReadFile(filepath.Join(d, "cmdline"))
		if err != nil || !bytes.HasPrefix(cmdline, []byte(program+"\x00worker\x00")) || !bytes.Contains(cmdline, mark) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(d), "%d", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// fill submits jobs of other users in several shapes. Some run and some wait.
func fill(t *testing.T, c *slurmtest.Cluster) {
	t.Helper()
	for _, l := range []slurmtest.Load{
		{Nodes: 3, CPUs: 2, Limit: 1, Seconds: 20}, {Nodes: 2, CPUs: 1, Limit: 5, Seconds: 40}, {Nodes: 1, CPUs: 2, Limit: 30, Seconds: 90},
		{Nodes: 8, CPUs: 1, Limit: 2, Seconds: 5}, {Nodes: 4, CPUs: 2, Limit: 1, Seconds: 5},
	} {
		c.Fill(t, l)
	}
}

// sortWords is a MapReduce job whose reference is a local run.
func sortWords(w *world, out string, more ...string) []string {
	args := []string{"mapreduce", "-input", "in", "-output", out, "-mapper", "map.sh", "-reducer", "reduce.sh",
		"-numReduceTasks", "3", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000"}
	return append(args, more...)
}

func (w *world) writeWords() {
	input := words(rand.New(rand.NewPCG(7, 7)), 20000)
	w.write("in/a.txt", input[:len(input)/2])
	w.write("in/b.txt", input[len(input)/2:])
	w.write("map.sh", "#!/bin/sh\nsleep 1\nexec tr -s ' ' '\\n'\n")
	w.write("reduce.sh", "#!/bin/sh\nexec uniq -c\n")
}

// wordsReference writes the input of sortWords and returns the output of the job on this machine.
func (w *world) wordsReference() string {
	w.t.Helper()
	w.writeWords()
	w.must(sortWords(w, "reference", "--on", "local")...)
	want := w.output("reference")
	if strings.Count(want, "\n") < 100 {
		w.t.Fatalf("the reference is too small to tell anything: %q", want)
	}
	return want
}

// startSort starts the job on a few nodes of the cluster, and returns once it is submitted.
func (w *world) startSort(out string) (*running, job.ID) {
	w.t.Helper()
	before := len(w.jobs())
	r := w.start(sortWords(w, out, "--on", "slurm", "-N", "2-4", "-t", "10")...)
	w.await("the job to be there", func() bool { return len(w.jobs()) > before || r.cmd.ProcessState != nil })
	return r, w.jobs()[before]
}

// checkSort checks that the output equals the reference byte for byte and that nothing was counted twice. what says what the test has done to the job.
func (w *world) checkSort(what string, id job.ID, out, reference string) {
	w.t.Helper()
	if got := w.output(out); got != reference {
		w.t.Errorf("%s: output differs from the reference:\n%.300q\nwant\n%.300q", what, got, reference)
	}
	checkOnce(w.t, w.records(id))
}

// TestSlurmMapReduce runs a job without a number of nodes and without a wall time, on a cluster that others use.
// Its output equals that of the local run. The second run has a profile for its plan.
func TestSlurmMapReduce(t *testing.T) {
	t.Parallel()
	w, c := newSlurmWorld(t)
	reference := w.wordsReference()
	fill(t, c)
	for _, out := range []string{"first", "second"} {
		w.must(sortWords(w, out, "--on", "slurm")...)
		w.checkSort(out, w.jobs()[len(w.jobs())-1], out, reference)
	}
}

// slurmVictims are the parts that are killed during a run.
var slurmVictims = []string{"worker", "coordinator", "slurmctld", "slurmd", "node"}

// TestSlurmFaults kills workers, the coordinator, slurmctld, slurmd and whole nodes at
// random moments. Nothing is lost: the output equals the reference byte for byte.
func TestSlurmFaults(t *testing.T) {
	t.Parallel()
	w, c := newSlurmWorld(t)
	reference, first := w.wordsReference(), faultSeed(t)
	for round := range slurmRounds(t) {
		seed := first + uint64(round)
		rng := rand.New(rand.NewPCG(seed, seed))
		out := fmt.Sprintf("out%d", round)
		r, id := w.startSort(out)
		var did []string
		for range 1 + rng.IntN(2) {
			at, victim := 5+rng.IntN(60), slurmVictims[rng.IntN(len(slurmVictims))]
			did = append(did, fmt.Sprintf("%s at %d", victim, at))
			if !w.reach(id, at) {
				break
			}
			w.slurmKill(c, victim, rng)
		}
		res := w.finish(r)
		if res.code != 0 {
			t.Fatalf("seed %d (%s): %v", seed, strings.Join(did, ", "), res)
		}
		w.checkSort(fmt.Sprintf("seed %d (%s)", seed, strings.Join(did, ", ")), id, out, reference)
	}
}

// slurmRounds is the number of rounds: a fifth of the number for local jobs, as a round takes half a minute.
func slurmRounds(t *testing.T) int { return max(1, faultRounds(t, 25)/5) }

// slurmKill kills one of the parts, and restarts the parts that an administrator would restart.
func (w *world) slurmKill(c *slurmtest.Cluster, victim string, rng *rand.Rand) {
	node := fmt.Sprintf("n%d", 1+rng.IntN(8))
	switch victim {
	case "worker":
		if pids := w.slurmWorkers(); len(pids) > 0 {
			_ = syscall.Kill(pids[rng.IntN(len(pids))], syscall.SIGKILL)
		}
	case "coordinator":
		for _, pid := range w.berths(coordinatorRole) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	case "slurmctld":
		c.Stop(w.t, "ctld")
		c.Start(w.t, "ctld")
	case "slurmd":
		c.Stop(w.t, node)
		c.Start(w.t, node)
	case "node":
		c.Crash(w.t, node)
		c.Start(w.t, node)
	}
}
