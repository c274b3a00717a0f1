package coordinator

import (
	"context"
	"errors"
	"time"

	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/seat"
	"berth/internal/step"
)

// maxRound bounds how much is taken into one round, so that records reach the
// journal soon and actions follow.
const maxRound = 256

// syncEvery is how long a record may stay in the page cache only, while the disk is fast. A
// coordinator that dies loses nothing by it, a machine that loses power at most so much.
const syncEvery = time.Second

// Tasks that make files wait while their file system is synced. So the loop pauses between two
// syncs for syncPause times as long as the first took, and for maxSyncPause at most: syncing takes
// a twentieth of the time, whatever the disk.
const (
	syncPause    = 19
	maxSyncPause = 30 * time.Second
)

// round is what one round of the loop has gathered.
type round struct {
	at      job.Time // of all its steps
	records []event.Record
	actions []step.Action
	after   []func() // run once the records are in the journals
}

// counters returns those of a job's attempts whose ends the round has gathered, as the job's
// view does not have them before they are in the journal.
func (r *round) counters(id job.ID) (all []map[string]int64) {
	for _, rec := range r.records {
		if ended, ok := rec.(event.AttemptEnded); ok && ended.Attempt.Job == id {
			all = append(all, ended.Counters)
		}
	}
	return all
}

// post hands work to the loop; it runs there, alone with the engine.
func (s *Server) post(work func()) {
	select {
	case s.posted <- work:
	case <-s.stopped:
	}
}

// call runs work in the loop and waits until its records are in the journals.
func (s *Server) call(work func() error) error {
	done := make(chan error, 1)
	s.post(func() {
		err := work()
		s.round.after = append(s.round.after, func() { done <- err })
	})
	select {
	case err := <-done:
		return err
	case <-s.stopped:
		if s.failure != nil {
			return s.failure
		}
		return errStopped
	}
}

// input posts an input for the engine.
func (s *Server) input(in step.Input) {
	s.post(func() {
		if err := s.step(in); err != nil {
			s.log.Warn("input refused", "input", in, "err", err)
		}
	})
}

// step hands an input to the engine and takes up its records and actions.
func (s *Server) step(in step.Input) error {
	in = s.bySteady(in)
	out, err := s.engine.Step(s.round.at, in)
	s.take(out)
	if n, ok := in.(step.AllocNote); ok {
		s.nodes.ApplyNote(n.Alloc, n.Note, n.Start) // for people only, so there is no record of it
	}
	return err
}

func (s *Server) take(out engine.Output) {
	s.round.records = append(s.round.records, out.Records...)
	s.round.actions = append(s.round.actions, out.Actions...)
}

// loop runs until ctx ends or nothing needs the coordinator any more.
func (s *Server) loop(ctx context.Context) (err error) {
	defer func() {
		if !errors.Is(err, seat.ErrTakenOver) { // commands go on to the coordinator that has
			s.failure = err
		}
		close(s.stopped)
	}()
	sync := time.NewTicker(syncEvery)
	defer sync.Stop()
	rented := time.NewTicker(s.rentEvery())
	defer rented.Stop()
	for {
		timer := s.timer()
		select {
		case work := <-s.posted:
			s.round.at = s.now()
			s.followWall()
			s.gather(work)
		case <-timer.C:
			s.round.at = s.now()
			s.followWall()
			s.tidy()
			if err := s.step(step.Tick{}); err != nil {
				return err
			}
		case <-rented.C:
			s.round.at = s.now()
			s.lookAtRented()
		case <-sync.C:
			s.syncJournals()
		case <-ctx.Done():
			timer.Stop()
			return s.stillOwner()
		}
		timer.Stop()
		if err := s.flush(); err != nil {
			return err
		}
		if s.idle() {
			s.log.Info("nothing to do; ending")
			return nil
		}
	}
}

// timer fires when the engine next wants to be told the time, or the coordinator to see whether it is idle.
func (s *Server) timer() *time.Timer {
	wait := idleCheck
	if at, ok := s.engine.NextTimeout(); ok {
		wait = min(wait, max(at.Sub(s.now()), 0))
	}
	return time.NewTimer(wait)
}

// gather runs what was posted, up to the round's bound.
func (s *Server) gather(work func()) {
	for n := 0; n < maxRound; n++ {
		work()
		select {
		case work = <-s.posted:
		default:
			return
		}
	}
	work()
}

// flush writes the round's records, then acts on them.
func (s *Server) flush() error {
	r := s.round
	s.round = round{}
	if err := s.mayAct(r); err != nil {
		return err
	}
	if len(r.records) > 0 {
		seq, err := s.journals.Append(r.at, r.records...)
		if err != nil {
			return err // what is not in the journal must not be acted on: the next coordinator goes on from there
		}
		for i, rec := range r.records {
			s.observe(event.Entry{Seq: seq + uint64(i), At: r.at, Record: rec})
		}
	}
	for _, a := range r.actions {
		step.Perform(a, s)
	}
	for _, f := range r.after {
		f()
	}
	s.flushSessions()
	if s.unguarded {
		s.unguarded = false
		s.guard()
	}
	return nil
}

// observe lets views, job logs and histories see a record that has happened.
func (s *Server) observe(e event.Entry) {
	if r, ok := e.Record.(event.AllocEnded); ok && !s.shapes[r.Alloc].Elastic { // else it is to be cleared yet
		delete(s.shapes, r.Alloc)
	}
	s.unguarded = s.unguarded || guarded(e.Record)
	l := s.remember(e)
	if l == nil {
		return
	}
	l.joblog.note(e.Record)
	switch r := e.Record.(type) {
	case event.JobSubmitted, event.JobResumed:
		s.startJoblog(l)
	case event.AttemptEnded:
		s.acknowledge(r.Attempt)
	case event.JobEnded:
		s.ended(l)
	}
}

// syncJournals makes what was appended survive a loss of power, beside the loop, unless the
// last sync is under way or was long and is not long ago.
func (s *Server) syncJournals() {
	if !s.syncing.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer s.syncing.Store(false)
		began := time.Now()
		s.makeDurable()
		pause := time.NewTimer(pauseAfter(time.Since(began)))
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-s.stopped:
		}
	}()
}

// pauseAfter returns how long no sync begins after one that took so long.
func pauseAfter(took time.Duration) time.Duration { return min(syncPause*took, maxSyncPause) }
