package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// exchanges is an engine with a waiting job and a batch system that does anything at any time. It has what the engine may rely on only.
type exchanges struct {
	t       *rapid.T
	e       *engine.Engine
	now     job.Time
	journal []event.Entry
	has     map[job.AllocID]bool                 // requests that the batch system has or runs
	begun   map[job.AllocID]bool                 // by what the coordinator was told
	instead map[job.AllocID]event.AllocRequested // new requests
	asked   *step.Plan
	times   []job.Time // of exchanges
	given   int        // requests that were given back for others
}

func (x *exchanges) step(in step.Input) {
	out, err := x.e.Step(x.now, in)
	if err != nil {
		x.t.Fatal(err)
	}
	x.take(out)
}

// take carries out what a step has decided. The coordinator may die before any of the records, or of the actions after them.
func (x *exchanges) take(out engine.Output) {
	dies, at := rapid.IntRange(0, 29).Draw(x.t, "dies") == 29, 0
	if dies {
		at = rapid.IntRange(0, len(out.Records)+len(out.Actions)).Draw(x.t, "at")
	}
	for i, r := range out.Records {
		if dies && i == at {
			x.restart()
			return
		}
		x.record(r)
	}
	for i, a := range out.Actions {
		if dies && len(out.Records)+i == at {
			x.restart()
			return
		}
		switch a := a.(type) {
		case step.Request:
			x.has[a.Alloc] = false
		case step.Plan:
			x.asked = &a
		}
	}
}

// restart lets a new coordinator take over.
func (x *exchanges) restart() {
	x.e, x.asked = engine.New(engine.Config{Exchange: true}), nil
	for _, e := range x.journal {
		x.e.Replay(e)
	}
	out := x.e.Recover(x.now)
	for _, r := range out.Records {
		x.record(r)
	}
	for _, a := range out.Actions {
		if a, ok := a.(step.Plan); ok {
			x.asked = &a
		}
	}
	for _, a := range x.e.Allocs() { // which the driver adopts: it requests what the batch system does not have
		if _, there := x.has[a.ID]; !there {
			x.has[a.ID] = false
		}
	}
}

func (x *exchanges) live(id job.AllocID) bool {
	return slices.ContainsFunc(x.e.Allocs(), func(a step.AllocStatus) bool { return a.ID == id })
}

// record checks what a record says against what was before it.
func (x *exchanges) record(r event.Record) {
	x.journal = append(x.journal, event.Entry{Seq: uint64(len(x.journal) + 1), At: x.now, Record: r})
	switch r := r.(type) {
	case event.AllocRequested:
		if len(r.Instead) > 0 {
			x.instead[r.Alloc] = r
			if !slices.Contains(x.times, x.now) {
				x.times = append(x.times, x.now)
			}
		}
	case event.AllocBegan:
		x.begun[r.Alloc] = true
	case event.AllocEnded:
		if strings.HasPrefix(r.Reason, "exchanged for ") {
			x.exchanged(r.Alloc)
		}
	}
	if n := len(x.times); n > 3 || n > 1 && x.times[n-1].Sub(x.times[n-2]) < 5*time.Minute {
		x.t.Fatalf("exchanges at %v", x.times)
	}
}

// exchanged checks that an old request is given back only once the batch system has all new ones.
func (x *exchanges) exchanged(old job.AllocID) {
	x.given++
	found := false
	for id, r := range x.instead {
		if slices.Contains(r.Instead, old) && x.live(id) {
			if found = true; !x.has[id] {
				x.t.Fatalf("%s is given back, but the batch system does not have %s", old, id)
			}
		}
	}
	if !found || x.begun[old] {
		x.t.Fatalf("%s is given back for nothing, or runs: %t", old, x.begun[old])
	}
}

// move lets something happen.
func (x *exchanges) move() {
	all := x.e.Allocs()
	pick := all[rapid.IntRange(0, len(all)-1).Draw(x.t, "which")].ID
	switch rapid.IntRange(0, 29).Draw(x.t, "move") {
	case 29:
		x.has[pick] = true
		x.step(step.AllocUp{Alloc: pick, Ends: x.now.Add(100 * time.Hour)})
	case 28:
		if len(all) > 1 { // the last one could be refused as well, with which the job fails
			x.step(step.AllocDown{Alloc: pick, Reason: "no", Refuse: rapid.Bool().Draw(x.t, "refused")})
		}
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		x.has[pick] = true
		x.step(step.AllocNote{Alloc: pick, Queued: true})
	case 10, 11, 12, 13, 14:
		x.answer()
	default:
		x.now = x.now.Add(time.Duration(rapid.IntRange(1, 150).Draw(x.t, "seconds")) * time.Second)
		x.step(step.Tick{})
	}
}

func (x *exchanges) answer() {
	if x.asked == nil {
		return
	}
	in := step.Planned{Job: x.asked.Job, Answer: job.Answer{Instead: x.asked.Waiting, Decision: "others"}}
	for range rapid.IntRange(1, 3).Draw(x.t, "new") {
		in.Allocs = append(in.Allocs, waitingRequest(1))
	}
	x.asked = nil
	x.step(in)
}

func waitingRequest(nodes int) job.AllocRequest {
	return job.AllocRequest{On: "slurm", Nodes: nodes, PerNode: job.Resources{CPUs: 2, Mem: 4 << 30}, Time: time.Hour, Elastic: true}
}

// TestExchangeLosesNothing: whatever the batch system does, and whenever the coordinator dies, a job that is not over has a request or an
// allocation at any time; requests are given back for others only once the batch system has all of these; what runs is not given back; and
// a job has at most three exchanges, five minutes apart.
func TestExchangeLosesNothing(t *testing.T) {
	given := 0
	rapid.Check(t, func(t *rapid.T) {
		x := &exchanges{t: t, e: engine.New(engine.Config{Exchange: true}), has: map[job.AllocID]bool{}, begun: map[job.AllocID]bool{},
			instead: map[job.AllocID]event.AllocRequested{}, now: job.Time(time.Hour)}
		w := job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 4, Alloc: waitingRequest(4)}
		w.Need, w.Attempts = job.Resources{CPUs: 1}, 1
		x.step(step.Submit{Work: w})
		defer func() { given += x.given }()
		for range rapid.IntRange(20, 150).Draw(t, "moves") {
			if s, ok := x.e.Job("bag-1"); !ok || s.State.Final() {
				return
			}
			if len(x.e.Allocs()) == 0 {
				t.Fatalf("the job has no request: %v", x.journal)
			}
			x.move()
		}
	})
	t.Logf("%d requests were given back for others", given)
	if given == 0 {
		t.Error("no request was exchanged")
	}
}
