package coordinator

import (
	"os"

	"berth/internal/driver/batch"
	"berth/internal/driver/slurm"
	"berth/internal/job"
	"berth/internal/wire"
)

// The environment in which a job was submitted leads to its cluster, not that of the command that
// happened to start the coordinator: SLURM_CONF may be set, and Slurm's module loaded, at any time later.

// callers is what it takes to let workers in, kept for places that are added later.
type callers struct {
	ca *wire.CA
	id *wire.Identity
}

// batchHere reports whether workers on nodes of a batch system may have to be let in: its commands
// are on PATH, or jobs were submitted to it in another environment before.
func (s *Server) batchHere() bool {
	return hasSlurm() || enteredBefore(s.slurmDir())
}

// enteredBefore reports whether jobs were submitted to a batch system before, given the folder of its allocations.
func enteredBefore(slurmDir string) bool {
	_, err := os.Stat(batch.EnvironmentsIn(slurmDir))
	return err == nil
}

// enter makes the place of an allocation request one that the coordinator can ask, by the environment
// of the command that made the plan. It is called beside the loop.
func (s *Server) enter(req job.AllocRequest, env []string) error {
	if req.On != slurm.Name || len(env) == 0 {
		return nil
	}
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.places.driver(slurm.Name) == nil {
		if err := s.listenToNodes(); err != nil {
			return err
		}
		if err := s.call(func() error { s.addSlurm(); return nil }); err != nil {
			return err
		}
	}
	clusters, ok := s.places.driver(slurm.Name).(*batch.Driver)
	if !ok {
		return nil
	}
	return clusters.Use(req.Batch.Cluster, env)
}

// listenToNodes listens for workers on nodes as well, where so far only those on this machine could
// come: nothing was known of a batch system when the coordinator started.
func (s *Server) listenToNodes() error {
	place, err := wire.ParsePlace(s.opts.Listen)
	if err != nil || place.Host != "" || place.To > 0 {
		return err // the user has said where, so nodes can come already
	}
	place.Host = wire.Everywhere
	l, err := wire.ListenAt(place, s.callers.id, s.refused)
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
