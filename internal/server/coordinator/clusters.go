package coordinator

import (
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
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
		err := s.call(func() error {
			if s.backends.driver(p.Name()) != nil {
				return nil
			}
			return s.addBackend(p) // it was not reached so far
		})
		if err != nil {
			return err
		}
	}
	if d, ok := s.backends.driver(req.On).(driver.Entered); ok {
		return d.Use(req.Batch.Cluster, env)
	}
	return nil
}
