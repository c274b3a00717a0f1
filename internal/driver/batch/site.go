package batch

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
)

// closePatience is how long Close waits until the batch system has accepted all cancellations.
const closePatience = 20 * time.Second

// Options are the options of a driver.
type Options struct {
	driver.Setup
	System func(env []string) System // the batch system as it is reached in an environment

	Dir     string // folder with one folder for each allocation, on a file system that the nodes share
	Scratch string // root of the folders for intermediate data if the request names none; private to the user

	Poll       time.Duration // between two polls of the jobs while a change is expected soon
	RetryFirst time.Duration // between a failed submission and the next one; it doubles with each failure
	RetryMax   time.Duration // the longest time between two submissions
}

// site runs workers on the nodes of one cluster.
type site struct {
	Options
	id     string // of the cluster (cluster.Queue.ID); "": the cluster that Options.Env leads to
	words  driver.BatchWords
	outbox *driver.Outbox // reports to the coordinator
	wake   chan struct{}  // ends the loop's pause
	work   sync.WaitGroup // the loop, and the removals of folders that it has begun

	mu     sync.Mutex
	system System             // in the environment of the last job
	allocs []*alloc           // in the order of their requests
	stop   context.CancelFunc // ends the loop; nil: the loop has not started
	closed bool

	submit   backoff  // of submissions, while the controller does not answer or accepts none
	poll     backoff  // of polls, while the controller does not answer
	away     job.Time // time from which the controller has not answered; 0: it answers
	lastPoll job.Time // time of the last poll
	nextPoll job.Time // time of the next poll
	guard    guard
}

// newSite returns the driver of the cluster that env leads to. It has no allocation yet.
func newSite(opts Options, id string, env []string) *site {
	system := opts.System(env)
	return &site{Options: opts, id: id, system: system, words: system.Words(), outbox: driver.NewOutbox(opts.Report),
		wake: make(chan struct{}, 1)}
}

// use changes the environment in which the batch system is reached, and retries at once what failed in
// the old one. The new environment must lead to the same cluster.
func (s *site) use(env []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.system = s.System(env)
	s.submit.reset()
	s.guard.try.reset()
	s.nextPoll = 0
	for _, a := range s.allocs {
		a.submit.next, a.cancel.next = 0, 0
	}
	s.nudge()
}

// reached returns the batch system in its present environment.
func (s *site) reached() System {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system
}

// snapshot returns the present nodes and queue.
func (s *site) snapshot(ctx context.Context) (cluster.Snapshot, error) {
	at := s.Wall()
	snap, err := s.reached().Snapshot(ctx, s.Inside)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	snap.At, snap.Queue.ID = at, s.id // the id stays the same if the controller was moved
	s.markOwn(snap.Queue.Pending)
	return snap, nil
}

// markOwn marks which pending jobs are allocations of this coordinator.
func (s *site) markOwn(pending []cluster.Queued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make(map[string]job.AllocID, len(s.allocs))
	for _, a := range s.allocs {
		if a.job != "" && !a.released {
			ids[a.job] = a.id
		}
	}
	for i := range pending {
		pending[i].Alloc = ids[pending[i].ID]
	}
}

// alloc returns a new allocation with this id. It is not in the loop's list yet.
func (s *site) alloc(id job.AllocID, req job.AllocRequest) *alloc {
	return &alloc{id: id, req: req, dir: filepath.Join(s.Dir, string(id))}
}

// noted returns an allocation of an earlier coordinator, with the job's id that is written in its folder.
func (s *site) noted(id job.AllocID, req job.AllocRequest) *alloc {
	a := s.alloc(id, req)
	a.job, a.maybe = a.noted(s.reached())
	return a
}

// request prepares an allocation and has its job submitted as soon as the batch system accepts it.
func (s *site) request(a *alloc) error {
	if err := s.prepare(a); err != nil {
		return err
	}
	s.add(a)
	return nil
}

// add adds an allocation to the loop's list, and starts the loop for the first one.
func (s *site) add(a *alloc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.allocs = append(s.allocs, a)
	s.nextPoll = 0
	s.begin()
	s.nudge()
}

// begin starts the loop unless it has started already. The lock is held.
func (s *site) begin() {
	if s.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		s.stop = stop
		s.work.Go(func() { s.loop(ctx) })
	}
}

// nudge ends the loop's pause.
func (s *site) nudge() {
	select {
	case s.wake <- struct{}{}:
	default: // its pause ends already
	}
}

// find returns the allocation with this id, or nil if it has ended or never existed. The lock is held.
func (s *site) find(id job.AllocID) *alloc {
	for _, a := range s.allocs {
		if a.id == id {
			return a
		}
	}
	return nil
}

// release cancels the allocation's job, whether it waits or runs. While the controller does not answer,
// the cancellation is retried. The job of an allocation that an earlier coordinator requested and
// this one did not adopt is found by the allocation's folder.
func (s *site) release(id job.AllocID) {
	s.mu.Lock()
	a := s.find(id)
	if a != nil {
		if a.released = true; a.stop != nil && a.began() {
			a.stop() // the submitting command hangs, and keeps the loop from cancelling the job
		}
		s.nudge()
	}
	s.mu.Unlock()
	if a != nil {
		return
	}
	if a = s.noted(id, job.AllocRequest{}); a.maybe {
		a.released = true
		s.add(a)
	}
}

// clear removes the allocation's folders: now if the allocation has ended, else when its job has ended.
func (s *site) clear(id job.AllocID) error {
	s.mu.Lock()
	a := s.find(id)
	if a != nil {
		a.clear = true
	}
	s.mu.Unlock()
	if a != nil {
		return nil
	}
	return s.remove(s.alloc(id, job.AllocRequest{}))
}

// close stops watching. The allocations continue. It waits up to closePatience until the batch system
// has accepted the cancellations that are due.
func (s *site) close() {
	s.mu.Lock()
	s.closed = true
	stop := s.stop
	s.mu.Unlock()
	s.outbox.Close()
	if stop != nil {
		stop()
	}
	s.work.Wait()
}

// unlock releases the lock and then makes the reports that were queued under it.
func (s *site) unlock() {
	s.mu.Unlock()
	s.outbox.Flush()
}
