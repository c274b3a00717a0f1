package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/job"
	"berth/internal/step"
)

// Name is what --on calls this driver.
const Name = "local"

// A worker that failed so often in a row, each time so soon after it was started, is
// given up. One that was killed did not fail: tasks that kill their workers are the
// engine's business.
const (
	maxFailures = 5
	failsSoon   = 10 * time.Second
)

// killAfter is how long a worker that shall end is waited for before it is killed.
const killAfter = 10 * time.Second

// Options is what a driver is made with.
type Options struct {
	driver.Setup
	Dir     string  // folder that holds a folder per allocation
	Scratch string  // where intermediate data goes if the request does not say
	Machine Machine // what it may share out
}

// Driver runs workers on this machine.
type Driver struct {
	opts Options
	told *driver.Outbox

	mu      sync.Mutex
	running map[job.AllocID]*alloc
	waiting []*alloc // in the order they were asked for
	closed  bool
}

var _ driver.Driver = (*Driver)(nil)

// New returns a driver that has no allocation yet.
func New(opts Options) *Driver {
	return &Driver{opts: opts, told: driver.NewOutbox(opts.Report), running: make(map[job.AllocID]*alloc)}
}

// unlock releases the lock, and then reports what was observed under it.
func (d *Driver) unlock() {
	d.mu.Unlock()
	d.told.Flush()
}

// Snapshot returns the machine as it is now.
func (d *Driver) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opts.Machine.Snapshot(d.opts.Now(), d.used()), nil
}

// used returns what running allocations hold of this machine. The lock is held.
func (d *Driver) used() job.Resources {
	var sum job.Resources
	for _, a := range d.running {
		if !a.away() {
			sum = sum.Plus(total(a.req))
		}
	}
	return sum
}

// fits reports whether an allocation can begin beside those that run. The lock is held.
func (d *Driver) fits(a *alloc) bool {
	if a.away() {
		return !d.occupied(a)
	}
	free := d.opts.Machine.Capacity().Minus(d.used())
	return len(d.running) == 0 || total(a.req).Fits(free)
}

func total(req job.AllocRequest) job.Resources {
	return job.Resources{CPUs: req.Nodes * req.PerNode.CPUs, Mem: int64(req.Nodes) * req.PerNode.Mem}
}

func (d *Driver) alloc(id job.AllocID, req job.AllocRequest) *alloc {
	a := &alloc{id: id, req: req, dir: filepath.Join(d.opts.Dir, string(id))}
	for rank := range ranks(req) {
		a.procs = append(a.procs, &proc{node: id.Node(rank), rank: rank, vacant: len(req.Remote.Rent.Machines) > 0})
	}
	return a
}

// Request starts the allocation's workers as soon as its share of the machine is free.
func (d *Driver) Request(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	d.mu.Lock()
	defer d.unlock()
	d.waiting = append(d.waiting, d.alloc(id, req))
	d.begin()
	return nil
}

// Adopt takes up an allocation of an earlier coordinator. They are taken up in the
// order in which they were asked for, so those that had begun come first.
func (d *Driver) Adopt(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	d.mu.Lock()
	defer d.unlock()
	a := d.alloc(id, req)
	if _, err := os.Stat(a.dir); errors.Is(err, fs.ErrNotExist) { // it was waiting, and does so again
		d.waiting = append(d.waiting, a)
		d.begin()
		return nil
	}
	d.running[id] = a
	a.met = true
	d.limit(a)
	if err := d.writeConfigs(a); err != nil { // the coordinator's address is new
		return err
	}
	for _, p := range a.procs {
		pid, pidfd, alive := a.find(p.rank)
		if !alive {
			d.spawn(a, p)
			continue
		}
		p.pid, p.vacant = pid, false
		go func() {
			awaitExit(pidfd)
			d.exited(a, p, "it ended")
		}()
	}
	return nil
}

// begin starts waiting allocations, in order, while the next one fits. One that is
// larger than the machine (more workers than cores were asked for) fits an empty machine.
func (d *Driver) begin() {
	for len(d.waiting) > 0 {
		a := d.waiting[0]
		if !d.fits(a) {
			return
		}
		d.waiting = d.waiting[1:]
		if err := d.writeConfigs(a); err != nil {
			d.told.Put(step.AllocDown{Alloc: a.id, Reason: err.Error(), Refuse: true})
			continue
		}
		d.running[a.id] = a
		d.limit(a)
		for _, p := range a.procs {
			d.spawn(a, p)
		}
	}
}

// limit lets the allocation end when its wall time is over. One that is adopted has
// all of it again: when it began is not kept.
func (d *Driver) limit(a *alloc) {
	if a.req.Time > 0 {
		a.limit = time.AfterFunc(a.req.Time, func() { d.timeOver(a) })
	}
}

// timeOver ends an allocation whose wall time is over.
func (d *Driver) timeOver(a *alloc) {
	d.mu.Lock()
	defer d.unlock()
	if d.running[a.id] == a {
		d.drop(a)
		d.told.Put(step.AllocDown{Alloc: a.id, Refuse: true, Reason: "its wall time of " + job.FormatDuration(a.req.Time) + " has passed (--time)"})
	}
}

// spawn starts a rank's worker and watches it, unless the rank waits for a machine. The lock is held.
func (d *Driver) spawn(a *alloc, p *proc) {
	if p.vacant {
		return
	}
	if p.failures >= maxFailures && !a.away() {
		d.giveUp(a, p)
		return
	}
	if a.away() {
		_ = os.Remove(a.file(p.rank, upEnd)) // there is none before the first
	}
	p.started = d.opts.Now()
	cmd, err := d.start(a, p.rank)
	if err != nil {
		d.opts.Log.Error("worker does not start", "node", p.node, "err", err)
		d.drop(a)
		d.told.Put(step.AllocDown{Alloc: a.id, Reason: err.Error(), Refuse: true})
		return
	}
	p.pid = cmd.Process.Pid
	d.opts.Log.Info("worker started", "node", p.node, "pid", p.pid)
	go d.reap(a, p, cmd)
}

func (d *Driver) giveUp(a *alloc, p *proc) {
	said := driver.LastLine(a.file(p.rank, logEnd)) // read first: the log goes with the allocation's folder
	d.drop(a)
	d.told.Put(step.AllocDown{Alloc: a.id, Refuse: true, Reason: "the worker of " + string(p.node) + " ends as soon as it starts: " + said})
}

func (d *Driver) reap(a *alloc, p *proc, cmd *exec.Cmd) {
	reason := "it ended"
	err := cmd.Wait()
	if err != nil {
		reason = err.Error()
	}
	d.mu.Lock()
	failed := cmd.ProcessState.Exited() && err != nil && d.opts.Now().Sub(p.started) < failsSoon
	if a.away() {
		failed = !p.vacant && !d.cameUp(a, p)
	}
	if failed {
		p.failures++
	} else {
		p.failures = 0
	}
	d.mu.Unlock()
	d.exited(a, p, reason)
}

// exited tells that a worker is dead and, unless its allocation is over, starts another. The
// death is reported first: it has to come before the next one's hello.
func (d *Driver) exited(a *alloc, p *proc, reason string) {
	d.mu.Lock()
	p.pid = 0
	if d.closed || p.released {
		d.cleanUp(a)
		d.mu.Unlock()
		return
	}
	d.opts.Log.Warn("worker is dead", "node", p.node, "reason", reason)
	d.told.Put(step.NodeDown{Node: p.node, Dead: true, Reason: "worker: " + reason})
	d.unlock()
	d.mu.Lock()
	defer d.unlock()
	if d.closed || p.released { // it was given back meanwhile
		d.cleanUp(a)
		return
	}
	switch {
	case p.vacant && p.next != nil:
		d.assign(a, p, *p.next)
		return
	case a.away():
		d.again(a, p)
		return
	}
	d.spawn(a, p)
}

// cleanUp removes a released allocation's folder once its last worker is gone.
func (d *Driver) cleanUp(a *alloc) {
	for _, p := range a.procs {
		if p.pid != 0 || !p.released {
			return
		}
	}
	if err := a.remove(); err != nil {
		d.opts.Log.Warn("allocation's folder stays", "alloc", a.id, "err", err)
	}
}

// drop ends the allocation's workers and frees its share. The lock is held.
func (d *Driver) drop(a *alloc) {
	delete(d.running, a.id)
	if a.limit != nil {
		a.limit.Stop()
	}
	for _, p := range a.procs {
		p.released = true
		if p.pid != 0 {
			terminate(p.pid)
		}
	}
	d.cleanUp(a)
	d.begin()
}

// terminate asks a worker to end, and kills it if it does not.
func terminate(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // gone
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
	go func() {
		timer := time.AfterFunc(killAfter, func() { _ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
		awaitExit(fd)
		timer.Stop()
	}()
}

// Release ends an allocation, begun or not.
func (d *Driver) Release(_ context.Context, id job.AllocID) error {
	d.mu.Lock()
	defer d.unlock()
	for i, a := range d.waiting {
		if a.id == id {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			return nil
		}
	}
	if a := d.running[id]; a != nil {
		d.drop(a)
	}
	return nil
}

// Close stops watching. Workers live on and wait for the next coordinator.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.told.Close()
	return nil
}

// Clear does nothing: Release removes all.
func (d *Driver) Clear(context.Context, job.AllocID) error { return nil }
