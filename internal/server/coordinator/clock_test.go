package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/step"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// hands are the clocks of a test: the one that nobody sets, and the wall clock.
type hands struct {
	since time.Duration
	set   time.Duration // by which the wall clock was set in all
}

const begun = job.Time(1_800_000_000e9)

// stopped is a coordinator whose loop does not run, with clocks that the test moves.
func stopped(t *testing.T, opts Options) (*Server, *hands) {
	t.Helper()
	p, err := leader.Of(opts.Home).Resolve(opts.Policies, opts.Said, opts.Env, opts.Log)
	if err != nil {
		t.Fatal(err)
	}
	_, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s, h := newServer(opts, p, cancel), &hands{}
	s.clock = clock{from: begun, since: func() time.Duration { return h.since }}
	s.clock.wall = func() job.Time { return begun.Add(h.since + h.set) }
	t.Cleanup(func() { _ = s.journals.Close() })
	own(t, s)
	return s, h
}

// own makes the coordinator the owner of its state folder, in the place of one before that the
// test lets die.
func own(t *testing.T, s *Server) {
	t.Helper()
	for _, left := range []string{s.home.Lock(), filepath.Join(s.home.Server(), "owner")} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	var err error
	if s.own, err = leader.Of(s.home).Take(time.Now(), s.opts.StandIn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.own.Release)
}

// give runs one round of the loop with an input.
func (s *Server) give(t *testing.T, in step.Input) {
	t.Helper()
	s.round.at = s.now()
	s.followWall()
	if err := s.step(in); err != nil {
		t.Fatal(err)
	}
	s.round.actions = nil
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
}

// elastic is a bag on an allocation of a batch system that ends at that time of the wall clock.
func elastic(t *testing.T, s *Server, ends job.Time) {
	t.Helper()
	has := job.Resources{CPUs: 1, Mem: 1 << 30}
	spec := &job.Spec{ID: "bag-1", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"true"}, Need: has, MaxFails: -1, Retries: 2}}
	p := plan.Plan{Kind: job.Bag, Tasks: 9, Reasons: []string{"because"},
		Alloc: job.AllocRequest{On: "slurm", Nodes: 1, PerNode: has, Time: 2 * time.Hour, Elastic: true, IdleTimeout: time.Minute}}
	r, err := s.home.NewRun(job.Bag, nil)
	if err == nil {
		err = errors.Join(r.Save(spec, statedir.Tasks{Entries: statedir.EntriesOf(make([]job.Entry, 9)...)}), statedir.WriteJSON(r.Plan(), p))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.give(t, step.Submit{Work: plan.Work(spec, p)})
	s.give(t, step.AllocUp{Alloc: "a1", Ends: ends})
	s.give(t, step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Host: "h", Addr: "h:1", Capacity: has}})
}

// nodeState returns how the engine takes the only node of a job's allocation to be: up, down or gone.
func (s *Server) nodeState() string {
	for _, line := range s.engine.Explain(s.now(), "bag-1") {
		if strings.HasPrefix(line, "a1/0 has not answered") {
			return "down"
		}
	}
	if a := s.engine.Allocs(); len(a) == 1 && a[0].Began != 0 {
		return "up"
	}
	return "gone"
}

// TestWallClockSteps: a node that does not answer is waited for as long as ever when the
// wall clock is set forth or back by an hour, and an allocation ends when that clock says.
func TestWallClockSteps(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		s, h := stopped(t, options(t))
		ends := begun.Add(100 * time.Minute)
		elastic(t, s, ends)
		s.give(t, step.NodeDown{Node: "a1/0", Reason: "connection lost"})
		h.set = jump
		h.since += nodeTimeout - time.Second
		s.give(t, step.Tick{})
		if got := s.nodeState(); got != "down" {
			t.Errorf("step of %v: the node is %s before its time", jump, got)
		}
		if a := s.engine.Allocs(); len(a) != 1 || moved(a[0].Ends, s.ahead) != ends || a[0].Ends != ends.Add(-jump) {
			t.Errorf("step of %v: allocations %+v, want the end %v", jump, a, ends)
		}
		h.since += 2 * time.Second
		s.give(t, step.Tick{})
		if got := s.nodeState(); got != "gone" {
			t.Errorf("step of %v: the node is %s after its time", jump, got)
		}
	}
}

// TestWallClockBetweenCoordinators: a coordinator that takes over after the wall clock was set
// waits for nodes as long as the one before would have.
func TestWallClockBetweenCoordinators(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		opts := options(t)
		before, _ := stopped(t, opts)
		elastic(t, before, begun.Add(100*time.Minute))
		before.give(t, step.NodeDown{Node: "a1/0", Reason: "connection lost"})
		if err := before.journals.Close(); err != nil {
			t.Fatal(err)
		}
		s, h := stopped(t, opts)
		h.set, s.clock.from = jump, begun.Add(jump)
		if err := s.recover(); err != nil {
			t.Fatal(err)
		}
		s.round.at = s.now()
		s.collect(s.engine.Recover(s.round.at))
		s.round.actions = nil
		h.since = nodeTimeout - time.Second
		s.give(t, step.Tick{})
		if got := s.nodeState(); got != "down" {
			t.Errorf("step of %v: the node is %s before its time", jump, got)
		}
		h.since += 2 * time.Second
		s.give(t, step.Tick{})
		if got := s.nodeState(); got != "gone" {
			t.Errorf("step of %v: the node is %s after its time", jump, got)
		}
	}
}

// TestTimesOfOthers: times that come from the batch system, from plans and from commands are
// the wall clock's, and what a plan is asked with is, too.
func TestTimesOfOthers(t *testing.T) {
	s, _ := stopped(t, options(t))
	s.ahead = time.Hour
	wall, steady := begun.Add(time.Hour), begun
	asked := []job.AllocRequest{{Start: wall, Latest: wall}, {}}
	up := s.bySteady(step.AllocUp{Ends: wall}).(step.AllocUp)
	note := s.bySteady(step.AllocNote{Start: wall}).(step.AllocNote)
	planned := s.bySteady(step.Planned{Answer: job.Answer{Retry: wall, Allocs: asked}}).(step.Planned)
	course := job.Followup{More: asked}
	submit := s.bySteady(step.Submit{Work: job.Work{Alloc: asked[0], Followup: course}}).(step.Submit)
	resume := s.bySteady(step.Resume{JobResumed: event.JobResumed{Alloc: asked[0], Followup: course}}).(step.Resume)
	for i, got := range []job.Time{up.Ends, note.Start, planned.Retry, planned.Allocs[0].Start, planned.Allocs[0].Latest,
		submit.Work.Alloc.Start, submit.Work.More[0].Latest, resume.Alloc.Latest, resume.More[0].Start} {
		if got != steady {
			t.Errorf("time %d is %v, want %v", i, got, steady)
		}
	}
	if none := planned.Allocs[1]; none.Start != 0 || none.Latest != 0 || asked[0].Start != wall {
		t.Errorf("no time became one, or what was given changed: %+v, %+v", none, asked)
	}
	live := moved([]job.Live{{Began: steady, Request: job.AllocRequest{Latest: steady}}}, s.ahead)
	if l := live[0]; l.Began != wall || l.Request.Latest != wall || l.Ends != 0 {
		t.Errorf("%+v", l)
	}
}
