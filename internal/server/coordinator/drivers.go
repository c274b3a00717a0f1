package coordinator

import (
	"context"
	"os"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
)

// addBackends adds the backends that can be reached from here: batch systems, and this machine unless the coordinator is a stand-in.
func (s *Server) addBackends() error {
	for _, p := range registry.All() {
		if b, is := p.(driver.BatchBackend); is && !s.opts.reaches(b) || !is && s.opts.StandIn {
			continue
		}
		if err := s.addBackend(p); err != nil {
			return err
		}
	}
	return nil
}

// addBackend makes the driver of a backend and adds it. It runs in the loop, or before the loop starts.
func (s *Server) addBackend(p driver.Backend) error {
	addresses := s.socketAddress
	if _, is := p.(driver.BatchBackend); is {
		addresses = s.nodeAddresses
	}
	d, err := p.New(driver.Setup{
		Exe: s.opts.Exe, State: s.home.Server(), Shared: s.home.Dir, Known: s.known(), Uncleared: s.engine.Uncleared(),
		Issue:  func(node job.NodeID, path string) error { return s.issue(node, path, addresses) },
		Report: s.input, Now: s.now, Wall: wallNow, Log: s.log,
		Env: os.Environ(), StandIn: s.standIns(), Inside: s.opts.Inside, Wake: s.choice.StandIn == leader.StandInOn,
	})
	if err != nil {
		return err
	}
	s.backends.add(p.Name(), d)
	return nil
}

// reaches reports whether jobs may go to a batch system: its commands are in PATH, or jobs were submitted to it
// before from another environment.
func (o *Options) reaches(p driver.BatchBackend) bool {
	return p.Reachable(os.Environ(), o.Home.Server())
}

// known returns the ids of the allocations that are not over.
func (s *Server) known() []job.AllocID {
	var ids []job.AllocID
	for _, a := range s.engine.Allocs() {
		ids = append(ids, a.ID)
	}
	return ids
}

// Clear has the driver remove the folders of an elastic allocation, and tells the engine when they are
// removed. It starts after the calls that were queued before it, as the allocation may have to be
// released first. No later call waits for it, as a file system that does not answer blocks for ever.
func (s *Server) Clear(a step.Clear) {
	delete(s.shapes, a.Alloc)
	ok := s.backends.call(a.On, func(ctx context.Context, d driver.Driver) {
		go func() {
			if err := d.Clear(ctx, a.Alloc); err != nil { // the next coordinator tries again
				s.log.Warn("the folders of an allocation cannot be removed", "alloc", a.Alloc, "err", err)
				return
			}
			s.input(step.Cleared{Alloc: a.Alloc})
		}()
	})
	if !ok { // when there is a driver again, its Sweep removes the folders that no coordinator knows
		go s.input(step.Cleared{Alloc: a.Alloc})
	}
}
