package engine_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/engine"
	"berth/internal/core/sched"
	"berth/lab/schedulers"
	"berth/test/support/enginetest"
	"berth/test/support/seeds"
)

var (
	firstSeed = flag.Int("world.first", 0, "first seed that TestWorldSeeds runs")
	someSeeds = flag.Int("world.seeds", 25, "number of seeds that it runs, times BERTH_SEEDS")
)

// newWorld returns a world that is checked after each step.
func newWorld(t rapid.TB, choose func(n int) int) *enginetest.World {
	cfg := engine.Config{NodeTimeout: 30 * time.Second, Trust: sched.Trust{After: 3, For: time.Minute}}
	cfg.Scheduler = []*sched.Scheduler{sched.Cores, schedulers.Slots, schedulers.Containers, schedulers.Packing, sched.Prism, sched.Phases}[choose(6)]
	cfg.Order = []sched.Order{sched.FIFO, sched.Shortest, sched.Auto}[choose(3)]
	cfg.Yield = choose(2) == 0
	cfg.Behind, cfg.Ahead = 2*choose(2), time.Hour
	cfg.AgeingShare = []float64{0, 1}[choose(2)]
	var w *enginetest.World
	w = enginetest.New(cfg, choose, func(format string, args ...any) {
		t.Helper()
		for _, e := range w.Journal {
			t.Logf("%v %s", time.Duration(e.At), showRecord(e.Record))
		}
		t.Logf("%s", w.Engine.Dump())
		t.Fatalf(format, args...)
	})
	steps := 0
	w.After = func() {
		steps++
		// Schedulers other than Cores compare candidates, and may try what one of them left only at the next event.
		if missed := w.Engine.Missed(); missed != "" && cfg.Scheduler == sched.Cores {
			t.Fatalf("%v: there is room for %s, but it does not start\n%s", time.Duration(w.Now), missed, w.Engine.Dump())
		}
		if s := w.Engine.Misplaced(); s != "" {
			t.Fatalf("%v: %s\n%s", time.Duration(w.Now), s, w.Engine.Dump())
		}
		if s := w.Engine.Neglected(steps%8 == 0); s != "" { // an explanation takes longer than all else
			t.Fatalf("%v: %s\n%s", time.Duration(w.Now), s, w.Engine.Dump())
		}
	}
	return w
}

// history runs random jobs in a world in which everything can fail.
func history(t rapid.TB, choose func(n int) int, jobs, moves int) *enginetest.Ledger {
	w := newWorld(t, choose)
	for range jobs {
		w.Submit()
	}
	for range moves {
		w.Move()
		if choose(40) == 0 {
			same(t, w)
		}
		if choose(100) == 0 {
			w.Submit()
		}
	}
	w.Finish()
	same(t, w)
	return w.Ledger
}

// same checks that the replayed journal gives the present state.
func same(t rapid.TB, w *enginetest.World) {
	again := w.Replayed()
	if again.Fingerprint() != w.Engine.Fingerprint() {
		t.Fatalf("replayed:\n%s\nin fact:\n%s", again.Dump(), w.Engine.Dump())
	}
}

// TestWorld checks that no node is oversubscribed, gangs start as a whole, each task is committed once, of jobs that write the same files the bytes of the one stand that
// claimed them last, nothing that is done runs again, a replayed journal gives the same state, no room is left unused, and every
// job ends. Histories are short, and shrink when one fails.
func TestWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		history(t, choose, rapid.IntRange(1, 4).Draw(t, "jobs"), rapid.IntRange(0, 400).Draw(t, "moves"))
	})
}

// TestSharedFiles checks that of jobs that write the same files the bytes of the one stand that claimed them last, in short histories that have
// nothing else.
func TestSharedFiles(t *testing.T) {
	later := 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		for n := range uint64(10) {
			later += sharedFiles(t, rand.New(rand.NewPCG(seed, n)))
		}
	})
	if later == 0 {
		t.Error("no file of a later job was left alone")
	}
}

// sharedFiles runs a history of up to three jobs. It returns how often a file was left alone, as it belonged to a later job.
func sharedFiles(t rapid.TB, r *rand.Rand) int {
	w := newWorld(t, r.IntN)
	w.SubmitOne()
	for range 50 + r.IntN(400) {
		if len(w.Engine.Jobs()) < 3 && r.IntN(20) == 0 {
			w.SubmitOne()
		}
		w.Move()
	}
	w.Finish()
	same(t, w)
	return w.Ledger.Claims.Later
}

// TestWorldSeeds checks the same over longer histories, which do not shrink.
func TestWorldSeeds(t *testing.T) {
	var all enginetest.Duplicates
	lines := 0
	n, later, gangs := seeds.Count(t, *someSeeds), 0, 0
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		t.Logf("seed %d", seed)
		ledger := history(t, r.IntN, 1+r.IntN(6), r.IntN(3000))
		seen := ledger.Duplicates
		lines, later, gangs = lines+ledger.Lines, later+ledger.Claims.Later, gangs+ledger.Gangs
		all.Begun, all.Won, all.Killed, all.Slow = all.Begun+seen.Begun, all.Won+seen.Won, all.Killed+seen.Killed, all.Slow+seen.Slow
	}
	t.Logf("duplicates: %+v, behind others: %d, files of later jobs: %d, gangs on several nodes: %d", all, lines, later, gangs)
	if n >= 15 && (lines == 0 || gangs == 0 || later == 0 || all.Begun == 0 || all.Won == 0 || all.Killed == 0 || all.Slow == 0) {
		t.Errorf("something did not happen: %+v", all)
	}
}
