package coordinator

import "berth/internal/core/step"

// closeOrphans closes open bags whose programs have ended without closing them, so that they do not wait for tasks for ever. It runs in
// the loop.
func (s *Server) closeOrphans() {
	var open []*live
	for _, l := range s.jobs {
		if b := l.Spec.Bag; b != nil && b.Open {
			open = append(open, l)
		}
	}
	if len(open) == 0 || s.full.Load() {
		return
	}
	s.alone(&s.orphans, func() {
		for _, l := range open {
			id := l.run.ID
			if !l.run.Orphaned() {
				continue
			}
			err := s.call(func() error {
				if s.jobs[id] != l { // it is over
					return nil
				}
				return s.step(step.Close{Job: id})
			})
			if err == nil {
				s.log.Info("the program that added tasks to an open bag has ended: the bag is closed", "job", id)
				err = l.run.ForgetFeeder()
			}
			if err != nil {
				s.log.Warn("an open bag whose program has ended is not closed", "job", id, "err", err)
			}
		}
	})
}
