package coordinator

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/control"
)

// listLimits answers with how much all jobs may use of what they share, and do.
func (s *Server) listLimits(*http.Request) (any, error) {
	l := control.Limits{Limits: []job.Limit{}}
	err := s.inspect(func() { l.Limits = append(l.Limits, s.engine.Limits()...) })
	return l, err
}

// setLimits changes limits. They are on disk before they hold.
func (s *Server) setLimits(r *http.Request) (any, error) {
	var req control.SetLimits
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, job.FatalError("", "the request cannot be read", err)
	}
	err := s.call(func() error {
		old := s.engine.LimitsByName()
		limits := make(map[string]int)
		maps.Copy(limits, old)
		maps.Copy(limits, req.Limits)
		for _, name := range req.Remove {
			if _, ok := limits[name]; !ok {
				return job.ArgumentError(name, "it has no limit", "berth limit shows those that have one")
			}
			delete(limits, name)
		}
		if err := s.home.SetLimits(limits); err != nil {
			return err
		}
		if err := s.step(step.SetLimits{Limits: limits}); err != nil {
			return errors.Join(err, s.home.SetLimits(old))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.listLimits(r)
}
