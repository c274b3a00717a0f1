package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/step"
	"berth/internal/node/transfer"
	"berth/internal/server/control"
	"berth/internal/server/journal"
	"berth/internal/server/rundir"
)

// submit accepts a run whose folder a command has written. A command that asks again while its first call is still handled gets the
// answer to that one. The call goes on when its command goes away, because another one may wait for it.
func (s *Server) submit(ctx context.Context, req control.Submit) error {
	answer := s.submits.DoChan(string(req.ID), func() (any, error) { return nil, s.submitAlone(context.WithoutCancel(ctx), req) })
	select {
	case r := <-answer:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// submitAlone accepts a run. There are no two calls for the same job at once.
func (s *Server) submitAlone(ctx context.Context, req control.Submit) error {
	id := req.ID
	if l := s.lookup(id); l != nil { // the previous coordinator died before it answered, and may have recorded the bag without its first tasks
		_, err := s.takeOn(ctx, l, req, nil)
		return err
	}
	if _, over := s.archived(id); over {
		return nil // the same, and the job has ended meanwhile
	}
	if _, err := os.Stat(s.home.JournalOf(id)); err == nil && !s.journals.Has(id) { // an append to it would end the loop
		return job.IOError(job.Fatal, s.home.JournalOf(id), "the job was submitted before, and its journal cannot be read", nil).Advice("the log says why: " + s.home.ServerLog())
	}
	if err := s.withdrawn(id); err != nil {
		return err
	}
	l, err := s.load(id)
	if err != nil {
		return err
	}
	if err := s.reachable(l.Plan.Alloc.On); err != nil {
		return err
	}
	if err := s.enter(l.Plan.Alloc, req.Env); err != nil {
		return err
	}
	work := plan.Work(l.Spec, l.Plan)
	work.Log = l.log
	if err := s.workNeeds(ctx, l, &work); err != nil {
		return err
	}
	if b := l.Spec.Bag; b != nil && b.NeedsFrom == nil && (b.Local || l.Plan.Alloc.Remote.Away()) {
		work.DataHosts = transfer.Shared(l.Spec, l.Tasks.Entries.Len(), l.Tasks.Entries.At)
	}
	if err := s.spacious(l, event.JobSubmitted{Work: work}); err != nil {
		return err
	}
	_, err = s.takeOn(ctx, l, req, &work)
	return err
}

// withdrawn returns an error if a job was cancelled before the coordinator had it, which removes its folder.
func (s *Server) withdrawn(id job.ID) error {
	if _, err := os.Stat(s.home.Run(id).Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return job.ArgumentError(string(id), "it was cancelled before the coordinator had it", "submit it again")
}

// spareRoom is how many bytes must be left in the state folder after a job was submitted or resumed, so that records of
// the jobs that run find room.
const spareRoom = 64 << 10

// spacious returns an error if the folder of a run has no room for a record of what a command asks for and for spareRoom. A
// record that the loop cannot write stops all jobs until there is room, so this is asked before. Records that cannot be
// encoded are refused, too. To ask writes a file, which takes longer than to add a task to an open bag. So once there was
// spareRoom, later records of the job may use half of it.
func (s *Server) spacious(l *live, r event.Record) error {
	n, err := recordable(r)
	if err != nil {
		return err
	}
	if l.spare -= n; l.spare >= 0 && !s.full.Load() {
		return nil
	}
	l.spare = 0
	err = s.room(l.run.Dir, n+spareRoom)
	if err == nil && s.full.Load() {
		err = journal.ErrFull
	}
	if err != nil {
		return job.IOError(job.User, l.run.Dir, "the state folder has no room for this job", err).Advice("free space on that disk or within your quota, and try again; jobs that run go on")
	}
	l.spare = spareRoom / 2
	return nil
}

// recordable returns the size of a record, or an error if it cannot be encoded.
func recordable(r event.Record) (int, error) {
	b, err := event.Entry{Record: r}.Marshal()
	if err != nil {
		return 0, job.ConfigError(string(r.Of()), "the job cannot be recorded", "").Because(err)
	}
	return len(b), nil
}

// acceptJob adds a new job to memory and to the engine. It runs in the loop.
func (s *Server) acceptJob(l *live, work job.Work) error {
	if err := s.withdrawn(l.run.ID); err != nil { // meanwhile, and a journal that cannot be made would end the loop
		return err
	}
	s.addJob(l)
	err := s.step(step.Submit{Work: work})
	if err != nil {
		s.removeJob(l.run.ID)
	}
	return err
}

// resume continues a job that is over, by the plan that its command has written.
func (s *Server) resume(ctx context.Context, id job.ID, req control.Resume) error {
	if err := s.awaitFiled(ctx, id); err != nil {
		return err
	}
	fresh, err := s.load(id)
	if err != nil {
		return err
	}
	terms, p := fresh.Spec.Terms(), fresh.Plan
	if err := s.enter(p.Alloc, req.Env); err != nil {
		return err
	}
	record := event.JobResumed{Job: id, Failed: req.Failed, Terms: &terms, Alloc: p.Alloc, Followup: p.Followup}
	if v, err := rundir.View(fresh.run); err == nil && v.CoreHours != nil { // its allocations may be forgotten
		record.Held = v.CoreHours.Sums()
	}
	if err := s.spacious(fresh, record); err != nil {
		return err
	}
	return s.call(func() error {
		l, err := s.reload(fresh)
		if err != nil {
			return err
		}
		before := l.assign(fresh.assignment) // it may have been changed for this resume
		s.resendJob(id)
		if err := s.step(step.Resume{JobResumed: record}); err != nil {
			if l.assign(before); l == fresh { // it was not in memory before, and fresh has the plan of this resume
				s.dismiss(l, true)
			}
			return err
		}
		// The summary is removed before the record is written, because a coordinator that finds a summary regards the job as over.
		for _, name := range []string{l.run.Summary(), filepath.Join(l.run.Dir, notified)} {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
		s.file(l.run)
		return nil
	})
}

// awaitFiled waits until a job that is over is archived: nothing of the previous run may be written
// after the next one has begun.
func (s *Server) awaitFiled(ctx context.Context, id job.ID) error {
	l := s.lookup(id)
	if l == nil || !event.State(l.view(s.now()).State).Final() {
		return nil
	}
	_, archived := l.ends()
	select {
	case <-archived:
		return nil
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(archivePatience):
		return job.IOError(job.User, string(id), "the end of its last run is not written yet, because the disk is full, a file system does not answer or nobody reads a pipe", nil).Advice("try again when its run folder, its job log and its output can be written")
	}
}
