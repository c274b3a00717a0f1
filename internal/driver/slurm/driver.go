package slurm

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/job"
)

// Name is what --on calls this driver.
const Name = "slurm"

// Defaults of Options.
const (
	defaultPoll       = 5 * time.Second
	defaultRetryFirst = time.Second
	defaultRetryMax   = 5 * time.Minute
)

// closePatience is how long Close waits for Slurm to take cancellations.
const closePatience = 20 * time.Second

// Options is what a driver is made with. For Snapshot and Test alone Now is enough.
type Options struct {
	Exe     string   // path of the berth program, on a file system that the nodes share
	Dir     string   // folder that holds a folder per allocation, on a file system that the nodes share
	Scratch string   // root of folders for intermediate data if the request names none; private to the user
	Env     []string // the user's environment, which Use may change; nil: that of this process
	Cluster string   // which cluster that leads to (cluster.Queue.ID); empty: not told apart

	Poll       time.Duration // between two looks at jobs while something is about to change; 0: 5 s
	RetryFirst time.Duration // between a submission that failed and the next; it doubles; 0: 1 s
	RetryMax   time.Duration // the longest time between submissions; 0: 5 min

	// StandIn is what workers and wake-up jobs need to start a stand-in coordinator; nil: they
	// shall start none. Inside is the Slurm job in which this process runs, empty for none.
	StandIn *driver.StandIn
	Inside  string
	Wake    bool // wake-up jobs may be submitted

	// Issue writes the keys of a node's worker, and where the coordinator is, to a file.
	Issue  func(node job.NodeID, path string) error
	Report driver.Reporter
	Now    func() job.Time // by which the driver waits; it need not follow steps of the wall clock
	Wall   func() job.Time // the wall clock, which Slurm speaks of; nil: Now
	Log    *slog.Logger    // nil: discards
}

// Driver runs workers on the nodes of a Slurm cluster.
type Driver struct {
	opts Options        // without Env
	told *driver.Outbox // what is to be reported
	wake chan struct{}  // something is to be done now
	gone sync.WaitGroup // removals under way

	mu     sync.Mutex
	slurm  client             // with the environment of the job that came last
	allocs []*alloc           // in the order they were asked for
	stop   context.CancelFunc // ends the loop; nil: it does not run yet
	done   chan struct{}      // closed when the loop has ended
	closed bool

	submit   backoff  // of submissions, while the controller is away or takes none
	poll     backoff  // of looks, while the controller is away
	away     job.Time // since when the controller does not answer; 0: it does
	lastPoll job.Time // when jobs were last looked at
	nextPoll job.Time
	site     *site // nil: not asked for yet
	guard    guard
}

// wall returns the time as Slurm tells it.
func (d *Driver) wall() job.Time {
	if d.opts.Wall == nil {
		return d.opts.Now()
	}
	return d.opts.Wall()
}

var (
	_ driver.Driver = (*Driver)(nil)
	_ driver.Tester = (*Driver)(nil)

	_ driver.Watcher = (*Driver)(nil)
)

// New returns a driver that has no allocation yet.
func New(opts Options) *Driver {
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	for _, o := range []struct {
		value *time.Duration
		or    time.Duration
	}{{&opts.Poll, defaultPoll}, {&opts.RetryFirst, defaultRetryFirst}, {&opts.RetryMax, defaultRetryMax}} {
		if *o.value <= 0 {
			*o.value = o.or
		}
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{opts: opts, slurm: client{env: opts.Env}, told: driver.NewOutbox(opts.Report), wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// Name returns "slurm".
func (d *Driver) Name() string { return Name }

// Use has Slurm's commands run in that environment from now on, and tries at once what failed in
// the one before. It must lead to the same cluster.
func (d *Driver) Use(env []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slurm = client{env: env}
	d.submit.reset()
	d.guard.try.reset()
	d.nextPoll = 0
	for _, a := range d.allocs {
		a.submit.next, a.cancel.next = 0, 0
	}
	d.nudge()
}

// client returns what runs Slurm's commands.
func (d *Driver) client() client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slurm
}

// Request submits a job for the allocation, as soon as Slurm takes it.
func (d *Driver) Request(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	a := &alloc{id: id, req: req, dir: filepath.Join(d.opts.Dir, string(id))}
	if err := d.prepare(a); err != nil {
		return err
	}
	d.add(a)
	return nil
}

// Adopt takes up an allocation of an earlier coordinator: its job is watched, or submitted
// if that coordinator did not come so far. Workers look after themselves.
func (d *Driver) Adopt(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	a := &alloc{id: id, req: req, dir: filepath.Join(d.opts.Dir, string(id))}
	a.job, a.maybe = a.noted()
	if err := d.prepare(a); err != nil {
		return err
	}
	d.add(a)
	return nil
}

// add puts an allocation into the loop's hands, and starts the loop for the first one.
func (d *Driver) add(a *alloc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.allocs = append(d.allocs, a)
	d.nextPoll = 0
	d.begin()
	d.nudge()
}

// begin starts the loop if it does not run yet. The lock is held.
func (d *Driver) begin() {
	if d.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		d.stop = stop
		go d.loop(ctx)
	}
}

// nudge lets the loop look at once.
func (d *Driver) nudge() {
	select {
	case d.wake <- struct{}{}:
	default: // it will already
	}
}

// find returns the allocation of that id, nil where it is over or was never there. The lock is held.
func (d *Driver) find(id job.AllocID) *alloc {
	for _, a := range d.allocs {
		if a.id == id {
			return a
		}
	}
	return nil
}

// Release cancels the allocation's job, waiting or running; while the controller is away
// it is tried again and again. One that was requested by a coordinator before, and not
// adopted, is known by its folder.
func (d *Driver) Release(_ context.Context, id job.AllocID) error {
	d.mu.Lock()
	a := d.find(id)
	if a != nil {
		a.released = true
		d.nudge()
	}
	d.mu.Unlock()
	if a == nil {
		d.releaseNoted(id)
	}
	return nil
}

// releaseNoted cancels the job of an allocation that only its folder tells of.
func (d *Driver) releaseNoted(id job.AllocID) {
	a := &alloc{id: id, dir: filepath.Join(d.opts.Dir, string(id)), released: true}
	if a.job, a.maybe = a.noted(); a.maybe {
		d.add(a)
	}
}

// Clear removes the allocation's folders: now where it is over, else when its job has ended.
func (d *Driver) Clear(_ context.Context, id job.AllocID) error {
	d.mu.Lock()
	a := d.find(id)
	if a != nil {
		a.clear = true
		d.mu.Unlock()
		return nil
	}
	d.mu.Unlock()
	return d.remove(&alloc{id: id, dir: filepath.Join(d.opts.Dir, string(id))})
}

// Sweep cancels the jobs of allocations that nobody knows any more, and removes their
// folders: those whose journal was lost, or whose release a coordinator did not live to
// see through. known are those that are not over, or not cleared yet.
func (d *Driver) Sweep(known []job.AllocID) error {
	ids, err := unknown(d.opts.Dir, known)
	for _, id := range ids {
		d.sweep(id)
	}
	return err
}

// unknown returns the allocations that have a folder in dir and are not known.
func unknown(dir string, known []job.AllocID) ([]job.AllocID, error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: "cannot list the allocations", Err: err}
	}
	var ids []job.AllocID
	for _, f := range folders {
		if id := job.AllocID(f.Name()); f.IsDir() && !slices.Contains(known, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// sweep cancels the job of an allocation that nobody knows, and removes its folder.
func (d *Driver) sweep(id job.AllocID) {
	a := &alloc{id: id, dir: filepath.Join(d.opts.Dir, string(id)), released: true, clear: true}
	a.job, a.maybe = a.noted()
	d.add(a)
}

// Close stops watching; allocations live on. It waits a little for Slurm to take
// cancellations that are due.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	stop := d.stop
	d.mu.Unlock()
	d.told.Close()
	if stop != nil {
		stop()
		<-d.done
	}
	d.gone.Wait()
	return nil
}

// report queues a report, which unlock hands over. The lock is held.
func (d *Driver) report(in engine.Input) {
	if !d.closed {
		d.told.Put(in)
	}
}

// unlock releases the lock, and then reports what was observed under it.
func (d *Driver) unlock() {
	d.mu.Unlock()
	d.told.Flush()
}
