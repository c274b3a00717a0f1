package coordinator

import (
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/wire"
)

// The environment in which a job was submitted leads to its cluster, not that of the command that
// happened to start the coordinator: SLURM_CONF, say, may be set, and Slurm's module loaded, at any time later.

// enter makes the place of an allocation request one that the coordinator can ask, by the environment
// of the command that made the plan. It is called beside the loop.
func (s *Server) enter(req job.AllocRequest, env []string) error {
	if len(env) == 0 {
		return nil
	}
	if p := registry.Batch(req.On); p != nil {
		if err := s.ensureBackend(p); err != nil {
			return err
		}
	}
	if d, ok := s.backends.driver(req.On).(driver.Entered); ok {
		return d.Use(req.Batch.Cluster, env)
	}
	return nil
}

// ensureBackend adds a batch system that was not reached so far.
func (s *Server) ensureBackend(p driver.BatchBackend) error {
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.backends.driver(p.Name()) != nil {
		return nil
	}
	if err := s.listenToNodes(); err != nil {
		return err
	}
	return s.call(func() error { return s.addBackend(p) })
}

// listenToNodes listens for workers on nodes as well, where so far only those on this machine could
// come: nothing was known of a batch system when the coordinator started.
func (s *Server) listenToNodes() error {
	place, err := wire.ParseListenAddress(s.opts.Listen)
	if err != nil || place.Host != "" || place.To > 0 {
		return err // the user has said where, so nodes can come already
	}
	place.Host = wire.Everywhere
	l, err := wire.ListenAt(place, s.id, s.refused)
	if err != nil {
		return err
	}
	s.reach.nodes = l.Addresses()
	s.log.Info("coordinator listens for workers on nodes, too", "workers", l.Addr().String())
	go func() {
		<-s.stopped
		_ = l.Close()
	}()
	go s.accept(l)
	return nil
}
