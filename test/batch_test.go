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
	w, c := systems[0].world(t, 8)
	return w, c.(slurm).Cluster
}

// batchWorkers returns the process ids of the world's workers on all nodes.
func (w *world) batchWorkers() []int {
	mark := []byte(filepath.Join(w.home().Server(), w.system.name))
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
	r := w.start(sortWords(w, out, "--on", w.system.name, "-N", "2-4", "-t", "10")...)
	return r, w.submitted(r, before)
}

// checkSort checks that the output equals the reference byte for byte and that nothing was counted twice. what says what the test has done to the job.
func (w *world) checkSort(what string, id job.ID, out, reference string) {
	w.t.Helper()
	if got := w.output(out); got != reference {
		w.t.Errorf("%s: output differs from the reference:\n%.300q\nwant\n%.300q", what, got, reference)
	}
	checkOnce(w.t, w.records(id))
}

// TestBatchMapReduce runs a job without a number of nodes and without a wall time, on a cluster that others use.
// Its output equals that of the local run. The second run has a profile for its plan. Before that it looks at what a task finds in its environment,
// and at tasks of several ranks.
func TestBatchMapReduce(t *testing.T) {
	onEach(t, func(t *testing.T, s system) {
		w, c := s.world(t, 8)
		w.checkEnvironment()
		w.checkGangs(3, 2, "--on", s.name, "-N", "3-3", "-t", "5", "--no-scout", "--idle-timeout", "1s")
		reference := w.wordsReference()
		c.fill(t)
		for _, out := range []string{"first", "second"} {
			w.must(sortWords(w, out, "--on", s.name)...)
			w.checkSort(out, w.jobs()[len(w.jobs())-1], out, reference)
		}
	})
}

// TestBatchFaults kills workers, the coordinator, daemons of the batch system and whole nodes at random moments. Nothing is
// lost: the output equals the reference byte for byte.
func TestBatchFaults(t *testing.T) {
	onEach(t, func(t *testing.T, s system) {
		w, c := s.world(t, 8)
		reference := w.wordsReference()
		for round, seed := range w.seeded(t, s.rounds(t)) {
			w.batchRound(c, seed, fmt.Sprintf("out%d", round), reference)
		}
	})
}

// batchRound runs a job, kills one or two parts, and checks the output.
func (w *world) batchRound(c cluster, seed uint64, out, reference string) {
	w.t.Helper()
	rng := rand.New(rand.NewPCG(seed, seed))
	r, id := w.startSort(out)
	victims := append([]string{"worker", "coordinator"}, c.victims()...)
	var did []string
	for range 1 + rng.IntN(2) {
		at, victim := 5+rng.IntN(60), victims[rng.IntN(len(victims))]
		did = append(did, fmt.Sprintf("%s at %d", victim, at))
		if !w.reach(id, at) {
			break
		}
		w.batchKill(c, victim, rng)
		w.kills.Add(1)
	}
	res := w.finish(r)
	if res.code != 0 {
		w.t.Fatalf("seed %d (%s): %v", seed, strings.Join(did, ", "), res)
	}
	w.checkSort(fmt.Sprintf("seed %d (%s)", seed, strings.Join(did, ", ")), id, out, reference)
}

// batchKill kills one of the parts.
func (w *world) batchKill(c cluster, victim string, rng *rand.Rand) {
	switch victim {
	case "worker":
		if pids := w.batchWorkers(); len(pids) > 0 {
			_ = syscall.Kill(pids[rng.IntN(len(pids))], syscall.SIGKILL)
		}
	case "coordinator":
		for _, pid := range w.berths(coordinatorRole) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	default:
		c.strike(w.t, victim, rng)
	}
}
