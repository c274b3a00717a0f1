package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// A stand-in is a coordinator that a worker or a wake-up job starts inside a batch job, as
// nobody on the login node is left. It goes on with the jobs of the batch system alone: runs on
// the login node itself, with their allocations, are left to the next coordinator there.

// ErrUnwanted says that no stand-in shall run.
var ErrUnwanted = errors.New("no stand-in is wanted")

const (
	// wishEvery is how often a stand-in looks whether its place is wanted.
	wishEvery = time.Second
	// lingerTime is how long a stand-in that is told to end waits for the workers of its own
	// batch job, which are told to end with it, to report what became of their tasks. Slurm
	// leaves 30 s between SIGTERM and SIGKILL (KillWait).
	lingerTime = 10 * time.Second
	lingerLook = 50 * time.Millisecond
)

// DefaultStandInAfter is how long workers are without a coordinator before one of them starts a
// stand-in.
const DefaultStandInAfter = 30 * time.Second

// ParseTime reads one of the Options that is a time, empty for the default.
func ParseTime(where, s string, byDefault time.Duration) (time.Duration, error) {
	if s == "" {
		return byDefault, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, job.ConfigError(where, "no time: "+s, "write 45s, say")
	}
	return d, nil
}

// begin takes in, as the owner of the state folder, what was wished of coordinators before.
func (o *Options) begin(p leader.Choice) error {
	if !o.StandIn {
		return leader.Of(o.Home).Unstop()
	}
	switch {
	case p.StandIn == leader.StandInOff:
		return fmt.Errorf("%w: the user has chosen so", ErrUnwanted)
	case leader.Of(o.Home).Stopped():
		return fmt.Errorf("%w: the user has stopped the coordinator", ErrUnwanted)
	case !slices.ContainsFunc(registry.Batches(), o.reaches):
		return fmt.Errorf("%w: this node has no commands of a batch system", ErrUnwanted)
	}
	return leader.Of(o.Home).ForgetWish()
}

// watchOwnership ends the coordinator once another has its place, and a stand-in once somebody
// wants its place.
func (s *Server) watchOwnership(ctx context.Context) {
	tick := time.Tick(wishEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.own.Lost():
			s.log.Error("another coordinator has taken over; this one ends")
			s.stop()
			return
		case <-tick:
			if s.opts.StandIn && leader.Of(s.home).MakeWay() {
				s.log.Info("a command wants the place of this stand-in")
				s.stop()
				return
			}
		}
	}
}

// linger waits until the workers of the stand-in's own batch job have hung up, as they do once
// they have told how their tasks ended.
func (s *Server) linger() {
	if !s.opts.StandIn || s.opts.Inside == "" {
		return
	}
	s.log.Info("the stand-in has been asked to end")
	late := time.After(lingerTime)
	for {
		n := 0
		if s.inspect(func() { n = s.ownWorkers() }) != nil || n == 0 {
			return
		}
		select {
		case <-time.After(lingerLook):
		case <-late:
			return
		}
	}
}

// ownWorkers counts the connected workers of the batch job in which the stand-in runs. It runs in the loop.
func (s *Server) ownWorkers() int {
	n := 0
	for node := range s.sessions {
		own := func(p driver.BatchBackend) bool { return p.JobOf(s.home.Server(), node.Alloc()) == s.opts.Inside }
		if slices.ContainsFunc(registry.Batches(), own) {
			n++
		}
	}
	return n
}

// leaves reports whether the coordinator leaves a run to another one: a stand-in those that do
// not run on a batch system.
func (s *Server) leaves(r statedir.Run) bool {
	if !s.opts.StandIn {
		return false
	}
	p, err := rundir.LoadPlan(r)
	return err != nil || registry.Batch(p.Alloc.On) == nil
}

// isForeign reports whether a record tells of an allocation that is left to another coordinator,
// or of a node of one.
func (s *Server) isForeign(rec event.Record) bool {
	if !s.opts.StandIn {
		return false
	}
	of, _ := allocOf(rec)
	left := s.foreign[of]
	switch r := rec.(type) {
	case event.AllocRequested:
		if registry.Batch(r.Request.On) != nil {
			return false
		}
		s.foreign[r.Alloc] = true
		s.engine.Reserve(r.Alloc)
		return true
	case event.AllocEnded:
		delete(s.foreign, r.Alloc)
	}
	return left
}

// standIns returns what workers need to start a stand-in, nil where none is wanted.
func (s *Server) standIns() *wire.StandIn {
	if s.choice.StandIn == leader.StandInOff {
		return nil
	}
	return &wire.StandIn{After: s.opts.StandInAfter, Log: s.home.ServerLog(),
		Env: append([]string{"XDG_STATE_HOME=" + filepath.Dir(s.home.Dir)}, s.opts.StandInEnv...)}
}

// guard has batch systems keep wake-up jobs ready while any of their jobs is unfinished. It
// runs in the loop, after jobs have changed.
func (s *Server) guard() {
	reqs := map[string][]job.AllocRequest{}
	for _, j := range s.engine.Jobs() {
		if !j.State.Final() {
			reqs[j.Alloc.On] = append(reqs[j.Alloc.On], j.Alloc)
		}
	}
	s.keepAwake(reqs)
}

// keepAwake has each batch system keep wake-up jobs ready for those requests of it, and no others.
func (s *Server) keepAwake(reqs map[string][]job.AllocRequest) {
	for _, p := range registry.Batches() {
		s.backends.call(p.Name(), func(_ context.Context, d driver.Driver) {
			if g, ok := d.(driver.Batch); ok {
				g.KeepAwake(reqs[p.Name()])
			}
		})
	}
}

// reachable returns an error where a job cannot run here: a stand-in has no place but the batch system.
func (s *Server) reachable(on string) error {
	if !s.opts.StandIn || s.backends.driver(on) != nil {
		return nil
	}
	host, _ := os.Hostname() // for people
	return job.ConfigError(host, "your coordinator runs here as a stand-in, inside a batch job, and runs nothing on this machine itself", "use berth outside of batch jobs, which ends the stand-in")
}

// guardNote says why nobody would wake up for a job, empty where somebody would. It runs in the loop.
func (s *Server) guardNote(id job.ID) []string {
	j, ok := s.engine.Job(id)
	if !ok || j.State.Final() {
		return nil
	}
	if g, ok := s.backends.driver(j.Alloc.On).(driver.Batch); ok {
		if note := g.GuardNote(j.Alloc); note != "" {
			return []string{note}
		}
	}
	return nil
}
