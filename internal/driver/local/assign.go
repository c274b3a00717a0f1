package local

import (
	"os"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// Assign gives a rank of a running allocation a machine, and starts the rank's worker there. If the rank's worker
// lives, or the allocation has ended, Assign does nothing.
func (d *Driver) Assign(id job.AllocID, rank int, on wire.Remote) {
	d.mu.Lock()
	defer d.unlock()
	a := d.running[id]
	if a == nil || d.closed || rank < 0 || rank >= len(a.procs) {
		return
	}
	if p := a.procs[rank]; p.pid == 0 {
		d.assign(a, p, on)
	} else if p.vacant {
		p.next = &on
	}
}

// assign assigns a machine to a rank that has no process. The lock is held.
func (d *Driver) assign(a *alloc, p *proc, on wire.Remote) {
	var c wire.WorkerConfig
	err := statedir.ReadJSON(a.file(p.rank, configEnd), &c)
	if err == nil {
		on.Up, on.Scratch, on.On = a.file(p.rank, upEnd), a.req.Scratch, a.req.On
		c.Remote = &on
		err = statedir.WriteJSON(a.file(p.rank, configEnd), c)
	}
	if err != nil {
		d.fail(a, err.Error())
		return
	}
	p.next = nil
	p.vacant, p.failures, p.why = false, 0, ""
	d.spawn(a, p)
}

// Vacate ends the worker of a rank whose machine is gone or is to be given back. Then the rank waits for another machine.
func (d *Driver) Vacate(id job.AllocID, rank int, reason string) {
	d.mu.Lock()
	defer d.unlock()
	a := d.running[id]
	if a == nil || rank < 0 || rank >= len(a.procs) {
		return
	}
	p := a.procs[rank]
	p.vacant, p.next, p.why = true, nil, ""
	if p.pid != 0 {
		terminate(p.pid)
	}
	d.outbox.Put(step.NodeDown{Node: p.node, Dead: true, Reason: reason})
	_ = os.Remove(a.file(rank, upEnd))
}
