package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// Name is the driver's name, as in --on.
const Name = "local"

// A worker that has failed maxFailures times in a row, each time within failsSoon of its start, is
// given up. A worker that was killed did not fail: the engine handles tasks that kill their
// workers.
const (
	maxFailures = 5
	failsSoon   = 10 * time.Second
)

// killAfter is the time after which a worker that was asked to end is killed.
const killAfter = 10 * time.Second

// Options are the options of a driver.
type Options struct {
	driver.Setup
	Dir     string  // folder with one folder for each allocation
	Scratch string  // folder for intermediate data if the request names none
	Machine Machine // the machine that is shared out
}

// Driver runs workers on this machine.
type Driver struct {
	opts   Options
	outbox *driver.Outbox

	mu      sync.Mutex
	running map[job.AllocID]*alloc
	waiting []*alloc // in the order of their requests
	closed  bool
}

// New returns a driver that has no allocation yet.
func New(opts Options) *Driver {
	return &Driver{opts: opts, outbox: driver.NewOutbox(opts.Report), running: make(map[job.AllocID]*alloc)}
}

// Open is New for the allocations of earlier coordinators, too: it ends those that no coordinator knows any more.
func Open(opts Options) *Driver {
	if err := Sweep(opts.Dir, opts.Known); err != nil {
		opts.Log.Warn("the remains of ended allocations cannot be removed", "err", err)
	}
	return New(opts)
}

// unlock releases the lock and then makes the reports that were queued under it.
func (d *Driver) unlock() {
	d.mu.Unlock()
	d.outbox.Flush()
}

// used returns the resources of this machine that running allocations have. The lock is held.
func (d *Driver) used() job.Resources {
	var sum job.Resources
	for _, a := range d.running {
		if !a.away() {
			sum = sum.Plus(total(a.req))
		}
	}
	return sum
}

// fits reports whether an allocation can start beside those that run. The lock is held.
func (d *Driver) fits(a *alloc) bool {
	if a.away() {
		return !d.occupied(a)
	}
	free := d.opts.Machine.Capacity().Minus(d.used())
	return len(d.running) == 0 || total(a.req).Fits(free) && d.coresFree(a.req)
}

// coresFree reports whether as many of the cores that a request allows are free as it wants. The lock is held.
func (d *Driver) coresFree(req job.AllocRequest) bool {
	free := len(req.Only)
	for _, a := range d.running {
		if slices.ContainsFunc(a.req.Only, func(id int) bool { return slices.Contains(req.Only, id) }) {
			free -= total(a.req).CPUs
		}
	}
	return req.Only == nil || total(req).CPUs <= free
}

func total(req job.AllocRequest) job.Resources {
	return job.Resources{CPUs: req.Nodes * req.PerNode.CPUs, Mem: int64(req.Nodes) * req.PerNode.Mem, GPUs: req.Nodes * req.PerNode.GPUs}
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
	d.wait(d.alloc(id, req))
	return nil
}

// wait adds an allocation to those that wait. The lock is held.
func (d *Driver) wait(a *alloc) {
	d.waiting = append(d.waiting, a)
	d.begin()
}

// Adopt takes over an allocation of an earlier coordinator. Allocations are adopted in the order of their
// requests, so those that had started come first.
func (d *Driver) Adopt(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	d.mu.Lock()
	defer d.unlock()
	a := d.alloc(id, req)
	if _, err := os.Stat(a.dir); errors.Is(err, fs.ErrNotExist) { // it was waiting, and waits again
		d.wait(a)
		return nil
	}
	d.running[id] = a
	a.met = true
	d.limit(a)
	if err := d.writeConfigs(a); err != nil { // the coordinator has a new address
		return err
	}
	for _, p := range a.procs {
		pid, pidfd, alive := find(a.file(p.rank, pidEnd))
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

// begin starts waiting allocations in order, as long as the next one fits. An allocation that is
// larger than the machine (a user may ask for more workers than cores) fits if no other one runs.
func (d *Driver) begin() {
	for len(d.waiting) > 0 {
		a := d.waiting[0]
		if !d.fits(a) {
			return
		}
		d.waiting = d.waiting[1:]
		if err := d.writeConfigs(a); err != nil {
			d.outbox.Put(step.AllocDown{Alloc: a.id, Reason: err.Error(), Refuse: true})
			continue
		}
		d.running[a.id] = a
		d.limit(a)
		for _, p := range a.procs {
			d.spawn(a, p)
		}
	}
}

// limit ends the allocation after its wall time. For an adopted allocation the wall time begins
// again, as its start is not recorded.
func (d *Driver) limit(a *alloc) {
	if a.req.Time > 0 {
		a.limit = time.AfterFunc(a.req.Time, func() {
			d.mu.Lock()
			defer d.unlock()
			if d.running[a.id] == a {
				d.fail(a, "its wall time of "+job.FormatDuration(a.req.Time)+" has passed (--time)")
			}
		})
	}
}

// spawn starts a rank's worker and watches it. If the rank waits for a machine, it does nothing. The lock is held.
func (d *Driver) spawn(a *alloc, p *proc) {
	if p.vacant {
		return
	}
	if p.failures >= maxFailures && !a.away() {
		d.fail(a, "the worker of "+string(p.node)+" ends as soon as it starts: "+driver.LastLine(a.file(p.rank, logEnd)))
		return
	}
	if a.away() {
		_ = os.Remove(a.file(p.rank, upEnd)) // there is none before the first
	}
	p.started = d.opts.Now()
	cmd, err := d.start(a, p.rank)
	if err != nil {
		d.opts.Log.Error("worker cannot be started", "node", p.node, "err", err)
		d.fail(a, err.Error())
		return
	}
	p.pid = cmd.Process.Pid
	d.opts.Log.Info("worker started", "node", p.node, "pid", p.pid)
	go d.reap(a, p, cmd)
}

// fail ends an allocation that cannot go on. The lock is held.
func (d *Driver) fail(a *alloc, reason string) {
	d.drop(a)
	d.outbox.Put(step.AllocDown{Alloc: a.id, Reason: reason, Refuse: true})
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
	p.failures++
	if !failed {
		p.failures = 0
	}
	d.mu.Unlock()
	d.exited(a, p, reason)
}

// exited reports the death of a worker and, unless its allocation has ended, starts another one. The
// death is reported first, as the coordinator must learn it before the next worker's hello. On this machine what the tasks have started
// may live on until the next worker has killed it: that one's hello says that nothing is left.
func (d *Driver) exited(a *alloc, p *proc, reason string) {
	d.mu.Lock()
	p.pid = 0
	if !d.closed && !p.released {
		d.opts.Log.Warn("worker is dead", "node", p.node, "reason", reason)
		d.outbox.Put(step.NodeDown{Node: p.node, Dead: a.away(), Reason: "worker: " + reason})
	}
	d.unlock()
	d.mu.Lock()
	defer d.unlock()
	switch {
	case d.closed || p.released: // or it was released meanwhile
		d.cleanUp(a)
	case p.vacant && p.next != nil:
		d.assign(a, p, *p.next)
	case a.away():
		d.retry(a, p)
	default:
		d.spawn(a, p)
	}
}

// cleanUp removes a released allocation's folder once its last worker has ended.
func (d *Driver) cleanUp(a *alloc) {
	if slices.ContainsFunc(a.procs, func(p *proc) bool { return p.pid != 0 || !p.released }) {
		return
	}
	if err := a.remove(); err != nil {
		d.opts.Log.Warn("an allocation's folder cannot be removed", "alloc", a.id, "err", err)
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

// Replace kills the worker of a node that was given up as it does not answer. Another one starts once it has ended. What holds a worker
// on another machine goes on trying to reach it.
func (d *Driver) Replace(node job.NodeID) {
	d.mu.Lock()
	defer d.unlock()
	a := d.running[node.Alloc()]
	if a == nil || a.away() || d.closed {
		return
	}
	for _, p := range a.procs {
		if p.node == node && p.pid != 0 {
			_ = unix.Kill(p.pid, unix.SIGKILL) // a stopped process takes no other signal
		}
	}
}

// terminate sends SIGTERM to a worker, and SIGKILL after killAfter.
func terminate(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
	go func() {
		timer := time.AfterFunc(killAfter, func() { _ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
		awaitExit(fd)
		timer.Stop()
	}()
}

// Release ends an allocation, whether it has started or waits.
func (d *Driver) Release(_ context.Context, id job.AllocID) error {
	d.mu.Lock()
	defer d.unlock()
	d.waiting = slices.DeleteFunc(d.waiting, func(a *alloc) bool { return a.id == id })
	if a := d.running[id]; a != nil {
		d.drop(a)
	}
	return nil
}

// Close stops watching. The workers continue and wait for the next coordinator.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.outbox.Close()
	return nil
}

// Clear does nothing: Release has removed all files.
func (d *Driver) Clear(context.Context, job.AllocID) error { return nil }
