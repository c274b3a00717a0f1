package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/step"
	"berth/internal/driver/registry"
	"berth/internal/server/control"
)

// set changes options of a job that is not over: its spec, by which it is planned again, and its terms.
func (s *Server) set(_ context.Context, id job.ID, req control.Set) (any, error) {
	l := s.lookup(id)
	if l == nil {
		return nil, s.notInMemory(id)
	}
	l.adding.Lock() // whoever adds tasks reads the spec
	defer l.adding.Unlock()
	was := control.WasSet{Notes: []string{}}
	err := s.callFor(id, func() error {
		if s.jobs[id] != l { // else adding guards another one
			return step.UserError(id, "the job was resumed meanwhile", "try again")
		}
		spec, err := changedSpec(l, req.Settings)
		if err != nil {
			return err
		}
		throttled := spec.Bag != nil && spec.Bag.Throttle != l.Spec.Bag.Throttle
		if err := s.setSpec(l, spec); err != nil || !throttled {
			return err
		}
		if most, running := spec.Bag.Throttle, l.view(s.now()).TasksRunning; most > 0 && running > most {
			was.Notes = append(was.Notes, fmt.Sprintf("%s run, more than throttle allows: no further one starts until fewer run", job.Count(running, "task")))
		}
		return nil
	})
	return was, err
}

// changedSpec returns the spec of a job with other settings.
func changedSpec(l *live, settings []string) (*job.Spec, error) {
	spec, err := l.run.Spec()
	if err != nil {
		return nil, err
	}
	if err := parse.Change(spec, append(parse.OptionsOf("entry", "bag", "resume"), registry.Options()...), settings); err != nil {
		return nil, err
	}
	spec.Request.SetDue(wallNow())
	spec.Normalize()
	return spec, spec.Validate()
}

// setSpec gives a job another spec, and the terms that follow from it. What the engine refuses changes nothing: the folder of a job that is over may be
// that of a resume already. The spec is on disk before the terms are recorded.
func (s *Server) setSpec(l *live, spec *job.Spec) error {
	placed := *l.Spec
	placed.Request.Priority, placed.Request.Weight = spec.Request.Priority, spec.Request.Weight
	before, errBefore := json.Marshal(&placed)
	decided := *l.Decided
	decided.Spec = spec
	next, err := newAssignment(&decided)
	if err := cmp.Or(errBefore, err); err != nil {
		return err
	}
	in := step.Set{TermsChanged: event.TermsChanged{Job: spec.ID, Terms: spec.Terms(), PlaceOnly: bytes.Equal(before, next.specJSON)}}
	if err := cmp.Or(s.engine.CheckSet(in), s.spacious(l, in.TermsChanged)); err != nil {
		return err
	}
	if err := l.run.SaveSpec(spec); err != nil {
		return job.IOError(job.User, l.run.Dir, "the job cannot be changed", err)
	}
	l.assign(next)
	s.resendJob(spec.ID)
	return s.step(in)
}

// completeSets gives jobs the terms of their specs, where a coordinator died after it had written a spec and before the terms were recorded.
func (s *Server) completeSets() {
	for _, j := range s.engine.Jobs() {
		now, ok := s.engine.Terms(j.ID)
		if !ok || s.jobs[j.ID] == nil || s.jobs[j.ID].Spec.Terms() == now {
			continue
		}
		in := step.Set{TermsChanged: event.TermsChanged{Job: j.ID, Terms: s.jobs[j.ID].Spec.Terms()}}
		if err := s.step(in); err != nil {
			s.log.Error("the changed options of a job do not hold; change them again (berth set)", "job", j.ID, "err", err)
		}
	}
}
