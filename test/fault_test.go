package test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// roundsVar is the variable that asks for a number of rounds.
const roundsVar = "BERTH_FAULT_ROUNDS"

// faultRounds returns the number of rounds for each kind of job: BERTH_FAULT_ROUNDS, or a number that suits a test run.
func faultRounds(t testing.TB, enough int) int {
	s := os.Getenv(roundsVar)
	if s == "" {
		return enough
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", roundsVar, err)
	}
	return n
}

// faultSeed returns the seed of the first round: BERTH_FAULT_SEED, or a constant.
func faultSeed(t testing.TB) uint64 {
	s := os.Getenv("BERTH_FAULT_SEED")
	if s == "" {
		return 1
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("BERTH_FAULT_SEED: %v", err)
	}
	return n
}

// seeded returns so many rounds of a test with their seeds, until one fails. What was done becomes a row of the table of make soak.
func (w *world) seeded(t testing.TB, rounds int) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		first := faultSeed(t)
		last := first
		defer func() {
			result := "right"
			if t.Failed() {
				result = fmt.Sprintf("**seed %d failed**", last)
			}
			t.Logf("soak: | %s | %d | %d | %d to %d | %s |", strings.TrimPrefix(t.Name(), "Test"), last-first+1, w.kills.Load(), first, last, result)
		}()
		for round := range rounds {
			if last = first + uint64(round); !yield(round, last) || t.Failed() {
				return
			}
		}
	}
}

// The processes that faultRound kills with SIGKILL.
var victims = []string{"worker", "coordinator", "both", "all workers"}

// TestFaultMapReduce kills workers, the coordinator and both at random moments of
// a MapReduce job. The output must be the reference's, byte for byte.
func TestFaultMapReduce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	input := words(rand.New(rand.NewPCG(7, 7)), 20000)
	w.write("in/a.txt", input[:len(input)/2])
	w.write("in/b.txt", input[len(input)/2:])
	w.write("map.sh", "#!/bin/sh\nexec tr -s ' ' '\\n'\n")
	w.write("reduce.sh", "#!/bin/sh\nexec uniq -c\n")
	args := func(out string) []string {
		return []string{"mapreduce", "--workers", "3", "-input", "in", "-output", out, "-mapper", "map.sh", "-reducer", "reduce.sh",
			"-numReduceTasks", "3", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000"}
	}
	w.must(args("reference")...)
	reference := w.output("reference")
	if strings.Count(reference, "\n") < 100 {
		t.Fatalf("the reference is too small to tell anything: %q", reference)
	}
	faultRound(t, w, 10, among(60), func(round int) []string { return args(fmt.Sprintf("out%d", round)) },
		func(round int, _ job.ID) {
			if got := w.output(fmt.Sprintf("out%d", round)); got != reference {
				t.Errorf("output differs from the reference:\n%.300q\nwant\n%.300q", got, reference)
			}
		})
}

// TestFaultBag is TestFaultMapReduce for a bag.
func TestFaultBag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = 60
	faultRound(t, w, 10, among(2*tasks), func(round int) []string {
		return []string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", fmt.Sprintf("out%d/{task}", round),
			"--stderr", "none", "--", "sh", "-c", "echo $((BERTH_TASK_ID * BERTH_TASK_ID))"}
	}, func(round int, _ job.ID) {
		for i := 1; i <= tasks; i++ {
			if got := w.read(fmt.Sprintf("out%d/%d", round, i)); got != fmt.Sprintln(i*i) {
				t.Errorf("task %d wrote %q", i, got)
			}
		}
	})
}

// TestFaultCollected is TestFaultBag for a bag with collected output: each task's output is there once, complete, and from an attempt that was done.
func TestFaultCollected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = 60
	faultRound(t, w, 5, among(2*tasks), func(int) []string {
		return []string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "collect", "--", "sh", "-c",
			"echo $((BERTH_TASK_ID * BERTH_TASK_ID)); echo e$BERTH_TASK_ID >&2"}
	}, func(_ int, id job.ID) {
		out, errs := "", ""
		for i := 1; i <= tasks; i++ {
			out, errs = out+fmt.Sprintln(i*i), errs+fmt.Sprintf("e%d\n", i)
		}
		if got := w.must("cat", string(id)).stdout; got != out {
			t.Errorf("the tasks printed %q", got)
		}
		if got := w.must("cat", "--stderr", string(id)).stdout; got != errs {
			t.Errorf("the tasks printed %q to standard error", got)
		}
	})
}

// moment is a time at which a process is killed.
type moment struct {
	name    string
	reached func(id job.ID) bool
}

// entries returns the moment at which the job's journal has about n entries (of at least 40 bytes each).
func (w *world) entries(n int) moment {
	return moment{strconv.Itoa(n), func(id job.ID) bool {
		st, err := os.Stat(w.home().Run(id).Journal())
		return err == nil && st.Size() >= int64(n)*40
	}}
}

// among returns random moments of a job, each after less than n entries.
func among(entries int) func(w *world, rng *rand.Rand) moment {
	return func(w *world, rng *rand.Rand) moment { return w.entries(rng.IntN(entries)) }
}

// faultRound runs a job once, kills processes at up to three random moments, and checks the
// journal and the output.
func faultRound(t *testing.T, w *world, enough int, random func(*world, *rand.Rand) moment, args func(round int) []string, check func(round int, id job.ID)) {
	t.Helper()
	for round, seed := range w.seeded(t, faultRounds(t, enough)) {
		rng := rand.New(rand.NewPCG(seed, seed))
		before := len(w.jobs())
		r := w.start(args(round)...)
		id := w.submitted(r, before)
		var plan []string
		for range 1 + rng.IntN(3) {
			all := append(slices.Clone(victims), w.victims...)
			at, victim := random(w, rng), all[rng.IntN(len(all))]
			plan = append(plan, victim+" at "+at.name)
			if !w.until(id, at) {
				break
			}
			w.kill(victim, rng)
		}
		res := w.finish(r)
		if res.code != 0 {
			t.Fatalf("seed %d (%s): %v", seed, strings.Join(plan, ", "), res)
		}
		checkOnce(t, w.records(id))
		check(round, id)
		if t.Failed() {
			t.Fatalf("seed %d (%s): %v", seed, strings.Join(plan, ", "), res)
		}
	}
}

// reach waits until the job's journal has n entries. It returns false if the job ends before.
func (w *world) reach(id job.ID, entries int) bool { return w.until(id, w.entries(entries)) }

// until waits for a moment of the job. It returns false if the job ends before.
func (w *world) until(id job.ID, at moment) (reached bool) {
	run := w.home().Run(id)
	w.await("the moment "+at.name, func() bool {
		if _, err := os.Stat(run.Summary()); err == nil {
			return true
		}
		reached = at.reached(id)
		return reached
	})
	return reached
}

// kill kills berth processes with SIGKILL.
func (w *world) kill(victim string, rng *rand.Rand) {
	w.kills.Add(1)
	workers := w.workers()
	var pids []int
	switch victim {
	case "worker":
		if len(workers) > 0 {
			pids = workers[rng.IntN(len(workers)):][:1]
		}
	case "coordinator":
		pids = w.berths(coordinatorRole)
	case "both":
		pids = w.berths(coordinatorRole)
		if len(workers) > 0 {
			pids = append(pids, workers[rng.IntN(len(workers))])
		}
	case "all workers":
		pids = workers
	default:
		w.strike(victim, rng)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
}

// checkOnce fails the test if a task was committed twice, or started again after
// it was done though its output was there, or if two live attempts of a task might commit.
func checkOnce(t testing.TB, entries []event.Entry) {
	t.Helper()
	done, granted := map[int]bool{}, map[int]int{} // by task; granted is the number of the attempt
	for _, e := range entries {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			if done[r.Attempt.Task] {
				t.Errorf("entry %d: %v was started though its task was done", e.Seq, r.Attempt)
			}
			if n := granted[r.Attempt.Task]; n != 0 {
				t.Errorf("entry %d: %v was started though attempt %d may commit", e.Seq, r.Attempt, n)
			}
			if r.Commit {
				granted[r.Attempt.Task] = r.Attempt.N
			}
		case event.CommitGranted:
			if n := granted[r.Attempt.Task]; n != 0 || done[r.Attempt.Task] {
				t.Errorf("entry %d: %v may commit though attempt %d may, or did", e.Seq, r.Attempt, n)
			}
			granted[r.Attempt.Task] = r.Attempt.N
		case event.AttemptEnded:
			if granted[r.Attempt.Task] == r.Attempt.N {
				delete(granted, r.Attempt.Task)
			}
			if r.Outcome != event.Done {
				continue
			}
			if done[r.Attempt.Task] {
				t.Errorf("entry %d: %v was committed though its task was done", e.Seq, r.Attempt)
			}
			done[r.Attempt.Task] = true
		case event.OutputLost:
			done[r.Task] = false
		}
	}
}

// words returns about n words, a few hundred different ones, in lines.
func words(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("w" + strconv.Itoa(rng.IntN(300)))
		if i%9 == 8 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
