package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/test/support/seeds"
)

// given is an input of an engine, or nil where a new coordinator took over from the
// journal.
type given struct {
	at      job.Time
	in      step.Input
	journal []event.Entry
}

// replay gives the inputs to an engine and returns all encoded records.
func replay(t *testing.T, cfg engine.Config, tape []given) []byte {
	t.Helper()
	e := engine.New(cfg)
	var written []byte
	for _, g := range tape {
		var out engine.Output
		if g.in == nil {
			e = engine.New(cfg)
			for _, ent := range g.journal {
				e.Replay(ent)
			}
			out = e.Recover(g.at)
		} else {
			out, _ = e.Step(g.at, g.in) // a refused input is refused each time
		}
		for i, r := range out.Records {
			var err error
			if written, err = event.MarshalTo(written, event.Entry{Seq: uint64(i), At: g.at, Record: r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return written
}

// TestSameRecords: the same inputs at the same times give the same records in the same order,
// in each of several runs.
func TestSameRecords(t *testing.T) {
	times := seeds.Count(t, 10)
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, r.IntN)
		var tape []given
		w.Given = func(in step.Input) {
			g := given{at: w.Now, in: in}
			if in == nil {
				g.journal = w.Journal[:len(w.Journal):len(w.Journal)]
			}
			tape = append(tape, g)
		}
		w.After = nil
		for range 4 {
			w.Submit()
		}
		for range 600 {
			w.Move()
		}
		w.Finish()
		first := replay(t, w.Config(), tape)
		for n := range times {
			if !bytes.Equal(replay(t, w.Config(), tape), first) {
				t.Fatalf("seed %d: the records differ at the replay number %d", seed, n+2)
			}
		}
	}
}

// TestSameOrderOfStopping cancels a job whose reduces wait for two cores on each of four
// nodes. On each node a reduce of another job then gets the free core; which
// node comes first is the same in each run.
func TestSameOrderOfStopping(t *testing.T) {
	lines := []string{"submit bag-3 tasks=8 need=1,1G nodes=4", "join a1/0", "join a1/1", "join a1/2", "join a1/3",
		"submit mr-1 maps=0 reduces=4 reduce-need=2,1G nodes=4", "submit mr-2 maps=0 reduces=4 reduce-need=1,1G nodes=4"}
	for n := range 4 {
		lines = append(lines, fmt.Sprintf("want-grant mr-1/%d#1 sort", n), fmt.Sprintf("want-grant mr-2/%d#1 sort", n))
	}
	for n := range 4 {
		lines = append(lines, fmt.Sprintf("ended bag-3/%d#1 done", 2*n))
	}
	lines = append(lines, "cancel mr-1")
	var first string
	for n := range 100 {
		s := newScenario(t)
		for _, line := range lines {
			s.line(line)
		}
		switch got := s.out.String(); {
		case n == 0:
			first = got
			if leaves := strings.Count(got, "* phase-granted mr-2"); leaves != 4 {
				t.Fatalf("%d reduces of mr-2 got a grant, want 4:\n%s", leaves, got)
			}
		case got != first:
			t.Fatalf("time %d:\n%s\nfirst:\n%s", n+1, got, first)
		}
	}
}
