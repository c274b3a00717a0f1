package coordinator

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/journal"
	"berth/internal/server/leader"
)

// maxRound is the largest number of inputs in one round, so that records reach the journal soon
// and actions follow.
const maxRound = 256

// behind is how many short tasks may be on a node behind one that runs there, and ahead how long they may wait (engine.Config).
const (
	behind = 8
	ahead  = 50 * time.Millisecond
)

// syncEvery is how long a record may be only in the page cache, as long as the disk is fast. The death
// of a coordinator loses no record. A power failure loses at most the records of this time.
const syncEvery = time.Second

// Tasks that create files wait while their file system is synced. So the loop waits between two
// syncs for syncPause times the duration of the first, and for maxSyncPause at most. Syncing thus
// takes a twentieth of the time on any disk.
const (
	syncPause    = 19
	maxSyncPause = 30 * time.Second
)

// roomCheck is how often a coordinator without room on its disk looks whether there is some again.
const roomCheck = time.Second

// round is what one round of the loop has collected.
type round struct {
	at      job.Time // the time of all steps of the round
	records []event.Record
	actions []step.Action
	after   []func() // functions to run when the records are in the journals
	waiting []func() // functions to run when the disk has no room for the records
}

// empty says whether nothing follows from the round.
func (r *round) empty() bool { return len(r.records)+len(r.actions)+len(r.after) == 0 }

// counters returns the counters of a job's attempts that ended in this round. The job's view does not
// contain them before they are in the journal.
func (r *round) counters(id job.ID) (all []map[string]int64) {
	for _, rec := range r.records {
		if ended, ok := rec.(event.AttemptEnded); ok && ended.Attempt.Job == id {
			all = append(all, ended.Counters)
		}
	}
	return all
}

// post has the loop run work. Nothing else uses the engine meanwhile.
func (s *Server) post(work func()) {
	select {
	case s.posted <- work:
	case <-s.stopped:
	}
}

// call runs work in the loop and waits until its records are in the journals, or the disk has no room for them.
func (s *Server) call(work func() error) error {
	return s.await(func(done chan<- error) {
		err := work()
		s.round.after = append(s.round.after, func() { done <- err })
		s.round.waiting = append(s.round.waiting, func() { done <- s.errFull() })
	})
}

// inspect runs work in the loop that changes nothing, and so need not wait for room on the disk.
func (s *Server) inspect(work func()) error {
	return s.await(func(done chan<- error) {
		work()
		done <- nil
	})
}

// await runs work in the loop, and waits until that says that it is done.
func (s *Server) await(work func(done chan<- error)) error {
	done := make(chan error, 2) // nobody reads what comes second
	s.post(func() { work(done) })
	select {
	case err := <-done:
		return err
	case <-s.stopped:
		return cmp.Or(s.failure, errStopped)
	}
}

// input posts an input of the engine to the loop.
func (s *Server) input(in step.Input) { s.tell(in, s.step) }

func (s *Server) tell(in step.Input, to func(step.Input) error) {
	s.post(func() {
		if err := to(in); err != nil {
			s.log.Warn("input refused", "input", in, "err", err)
		}
	})
}

// step gives an input to the engine and adds its records and actions to the round.
func (s *Server) step(in step.Input) error {
	in = s.bySteady(in)
	if down, ok := in.(step.AllocDown); ok && s.judge(down) {
		return nil
	}
	return s.apply(in)
}

func (s *Server) apply(in step.Input) error {
	out, err := s.engine.Step(s.round.at, in)
	s.collect(out)
	if n, ok := in.(step.AllocNote); ok {
		s.nodes.ApplyNote(n.Alloc, n.Note, n.Start, n.Suspended) // it is shown to users only, so it is not recorded
	}
	return err
}

func (s *Server) collect(out engine.Output) {
	s.round.records = append(s.round.records, out.Records...)
	s.round.actions = append(s.round.actions, out.Actions...)
}

// loop runs rounds until ctx ends or nothing needs the coordinator any more.
func (s *Server) loop(ctx context.Context) (err error) {
	defer func() {
		if !errors.Is(err, leader.ErrTakenOver) { // commands use the coordinator that has taken over
			s.failure = err
		}
		close(s.stopped)
	}()
	sync, rented, look := time.Tick(syncEvery), time.Tick(s.rentEvery()), time.Tick(lookEvery)
	for {
		select {
		case work := <-s.posted:
			s.round.at = s.now()
			s.followWall()
			s.gather(work)
		case <-s.timer():
			s.round.at = s.now()
			s.followWall()
			s.tidy()
			if err := s.step(step.Tick{}); err != nil {
				return err
			}
		case <-rented:
			s.round.at = s.now()
			s.reviewRented()
		case <-look:
			s.lookAtQueues()
		case <-sync:
			s.syncJournals()
			s.closeOrphans()
		case <-ctx.Done():
			if closed(s.own.Lost()) {
				return leader.ErrTakenOver
			}
			return nil
		}
		if err := s.flush(); err != nil {
			return err
		}
		if s.idle() {
			s.log.Info("nothing to do; ending")
			return nil
		}
	}
}

// timer fires at the next timeout of the engine, or when the coordinator checks whether it is idle.
func (s *Server) timer() <-chan time.Time {
	wait := idleCheck
	if s.full.Load() {
		wait = roomCheck
	}
	if at, ok := s.engine.NextTimeout(); ok {
		wait = min(wait, max(at.Sub(s.now()), 0))
	}
	return time.After(wait)
}

// gather runs the posted functions, at most maxRound of them. Once there are none left, it lets other goroutines run that read messages, and
// looks again: on one core a reader that posts lets the loop run at once, and each message would have a round of its own, with a write to the
// journal.
func (s *Server) gather(work func()) {
	work()
	for n, yielded := 1, false; n < maxRound; {
		select {
		case work = <-s.posted:
			work()
			n, yielded = n+1, false
		default:
			if yielded {
				return
			}
			runtime.Gosched()
			yielded = true
		}
	}
}

// flush writes the records of the rounds that wait for it to the journals, each before its actions are carried out.
func (s *Server) flush() error {
	if len(s.unwritten) == 0 || !s.round.empty() {
		s.unwritten = append(s.unwritten, s.round)
	}
	s.round = round{}
	for len(s.unwritten) > 0 {
		err := s.write(&s.unwritten[0])
		if errors.Is(err, journal.ErrFull) {
			s.waitForRoom(err)
			return nil
		}
		if err != nil {
			return err
		}
		s.unwritten = slices.Delete(s.unwritten, 0, 1)
	}
	s.full.Store(false)
	return nil
}

// write writes the records of a round to the journals and then carries out its actions.
func (s *Server) write(r *round) error {
	if len(r.records)+len(r.actions) > 0 { // else nothing is written or done that another coordinator may have taken over
		if err := s.own.Confirm(); err != nil {
			return err
		}
	}
	if len(r.records) > 0 {
		seq, err := s.record(r.at, r.records...)
		if err != nil {
			return err // nobody may act on a record that is not in the journal: the next coordinator continues from the journal
		}
		s.full.Store(false) // before anybody is answered, who may ask for more at once
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

// waitForRoom leaves the rounds for which the disk has no room to the next flush. Tasks that run go on meanwhile, and workers keep
// what they have to report. Whoever waits for a round is told.
func (s *Server) waitForRoom(err error) {
	if !s.full.Swap(true) {
		s.log.Error("the state folder is full: nothing is started or recorded until there is room", "err", err)
	}
	for i := range s.unwritten {
		for _, f := range s.unwritten[i].waiting {
			f()
		}
		s.unwritten[i].waiting = nil
	}
}

// errFull tells a caller that what it asked for waits for room on the disk.
func (s *Server) errFull() error {
	return job.IOError(job.Transient, s.home.Dir, "the state folder is full, and what was asked for waits", nil).Advice("free space on that disk; it is then done, and all jobs go on")
}

// observe applies a record to views, job logs and the history.
func (s *Server) observe(e event.Entry) {
	if r, ok := e.Record.(event.AllocEnded); ok && !s.shapes[r.Alloc].Elastic { // an elastic one is cleared later
		delete(s.shapes, r.Alloc)
	}
	if r, ok := e.Record.(event.NodeLost); ok && r.Gone {
		s.backends.call(s.shapes[r.Node.Alloc()].On, func(_ context.Context, d driver.Driver) {
			if d, ok := d.(driver.Replacer); ok {
				d.Replace(r.Node)
			}
		})
	}
	l := s.remember(e)
	if r, ok := e.Record.(event.AllocBegan); ok {
		s.noteStart(r.Alloc)
	}
	if l == nil {
		return
	}
	switch e.Record.(type) {
	case event.JobSubmitted, event.JobResumed:
		s.unguarded = true
		s.startJoblog(l)
	case event.JobEnded:
		s.unguarded = true
		l.joblog.end()
		s.ended(l)
	}
}

// syncJournals writes the journals to the disk, beside the loop. It does nothing if a sync is under
// way, or if the pause after the last one is not over.
func (s *Server) syncJournals() {
	s.alone(&s.syncing, func() {
		began := time.Now()
		s.makeDurable()
		select {
		case <-time.After(pauseAfter(time.Since(began))):
		case <-s.stopped:
		}
	})
}

// alone does work beside the loop, unless it is being done already. It runs in the loop.
func (s *Server) alone(busy *atomic.Bool, work func()) {
	if busy.CompareAndSwap(false, true) {
		s.beside.Go(func() {
			defer busy.Store(false)
			work()
		})
	}
}

// pauseAfter returns the pause after a sync that took this long.
func pauseAfter(took time.Duration) time.Duration { return min(syncPause*took, maxSyncPause) }
