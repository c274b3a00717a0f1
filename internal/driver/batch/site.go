package batch

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/job"
)

// Defaults of Options.
const (
	defaultPoll       = 5 * time.Second
	defaultRetryFirst = time.Second
	defaultRetryMax   = 5 * time.Minute
)

// closePatience is how long Close waits for the batch system to take cancellations.
const closePatience = 20 * time.Second

// Options is what a driver is made with.
type Options struct {
	driver.Setup
	System func(env []string) System // the batch system as it is reached in an environment

	Dir     string // folder that holds a folder per allocation, on a file system that the nodes share
	Scratch string // root of folders for intermediate data if the request names none; private to the user

	Poll       time.Duration // between two looks at jobs while something is about to change; 0: 5 s
	RetryFirst time.Duration // between a submission that failed and the next; it doubles; 0: 1 s
	RetryMax   time.Duration // the longest time between submissions; 0: 5 min
}

// withDefaults returns the options with defaults in the place of what is not set.
func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	o.RetryFirst = cmp.Or(o.RetryFirst, defaultRetryFirst)
	o.RetryMax = cmp.Or(o.RetryMax, defaultRetryMax)
	if o.Wall == nil {
		o.Wall = o.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// site runs workers on the nodes of one cluster.
type site struct {
	opts  Options
	id    string // which cluster it is (cluster.Queue.ID); empty: the one that Options.Env leads to
	words Words
	told  *driver.Outbox // what is to be reported
	wake  chan struct{}  // something is to be done now
	gone  sync.WaitGroup // removals under way

	mu     sync.Mutex
	system System             // in the environment of the job that came last
	allocs []*alloc           // in the order they were asked for
	stop   context.CancelFunc // ends the loop; nil: it does not run yet
	done   chan struct{}      // closed when the loop has ended
	closed bool

	submit   backoff  // of submissions, while the controller is away or takes none
	poll     backoff  // of looks, while the controller is away
	away     job.Time // since when the controller does not answer; 0: it does
	lastPoll job.Time // when jobs were last looked at
	nextPoll job.Time
	guard    guard
}

// newSite returns the driver of a cluster that env leads to. It has no allocation yet.
func newSite(opts Options, id string, env []string) *site {
	system := opts.System(env)
	return &site{opts: opts, id: id, system: system, words: system.Words(), told: driver.NewOutbox(opts.Report),
		wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// use has the batch system reached in that environment from now on, and tries at once what failed in
// the one before. It must lead to the same cluster.
func (s *site) use(env []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.system = s.opts.System(env)
	s.submit.reset()
	s.guard.try.reset()
	s.nextPoll = 0
	for _, a := range s.allocs {
		a.submit.next, a.cancel.next = 0, 0
	}
	s.nudge()
}

// reached returns the batch system as it is reached now.
func (s *site) reached() System {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system
}

// snapshot returns the nodes and the queue as they are now.
func (s *site) snapshot(ctx context.Context) (cluster.Snapshot, error) {
	at := s.opts.Wall()
	snap, err := s.reached().Snapshot(ctx, s.opts.Inside)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	snap.At, snap.Queue.ID = at, s.id // a controller that was moved makes no other cluster of it
	return snap, nil
}

// alloc returns an allocation of that id, not known yet.
func (s *site) alloc(id job.AllocID, req job.AllocRequest) *alloc {
	return &alloc{id: id, req: req, dir: filepath.Join(s.opts.Dir, string(id))}
}

// noted returns an allocation of an earlier coordinator, with what its folder tells of its job.
func (s *site) noted(id job.AllocID, req job.AllocRequest) *alloc {
	a := s.alloc(id, req)
	a.job, a.maybe = a.noted(s.reached())
	return a
}

// request has a job submitted for the allocation, as soon as the batch system takes it.
func (s *site) request(a *alloc) error {
	if err := s.prepare(a); err != nil {
		return err
	}
	s.add(a)
	return nil
}

// add puts an allocation into the loop's hands, and starts the loop for the first one.
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

// begin starts the loop if it does not run yet. The lock is held.
func (s *site) begin() {
	if s.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		s.stop = stop
		go s.loop(ctx)
	}
}

// nudge lets the loop look at once.
func (s *site) nudge() {
	select {
	case s.wake <- struct{}{}:
	default: // it will already
	}
}

// find returns the allocation of that id, nil where it is over or was never there. The lock is held.
func (s *site) find(id job.AllocID) *alloc {
	for _, a := range s.allocs {
		if a.id == id {
			return a
		}
	}
	return nil
}

// release cancels the allocation's job, waiting or running; while the controller is away
// it is tried again and again. One that was requested by a coordinator before, and not
// adopted, is known by its folder.
func (s *site) release(id job.AllocID) {
	s.mu.Lock()
	a := s.find(id)
	if a != nil {
		a.released = true
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

// clear removes the allocation's folders: now where it is over, else when its job has ended.
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

// sweep cancels the job of an allocation that nobody knows, and removes its folder.
func (s *site) sweep(id job.AllocID) {
	a := s.noted(id, job.AllocRequest{})
	a.released, a.clear = true, true
	s.add(a)
}

// close stops watching; allocations live on. It waits a little for the batch system to take
// cancellations that are due.
func (s *site) close() {
	s.mu.Lock()
	s.closed = true
	stop := s.stop
	s.mu.Unlock()
	s.told.Close()
	if stop != nil {
		stop()
		<-s.done
	}
	s.gone.Wait()
}

// unlock releases the lock, and then reports what was observed under it.
func (s *site) unlock() {
	s.mu.Unlock()
	s.told.Flush()
}
