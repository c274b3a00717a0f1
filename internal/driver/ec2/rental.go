package ec2

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/driver/ssh"
	"berth/internal/wire"
)

// Intervals between rounds: while machines are starting or ending, otherwise, and the longest wait after a failed call.
const (
	soon    = time.Second
	seldom  = 10 * time.Second
	longest = time.Minute
)

// rental looks after one allocation's machines. The driver's lock guards all fields.
type rental struct {
	d    *Driver
	dir  string
	ssh  string // the command that reaches machines
	l    *ledger
	wake chan struct{}

	asking map[string]bool // machines whose ssh servers are being asked
	noted  string          // the last note that was reported
	fails  int             // consecutive rounds with an error of the provider
}

// tend looks after the machines until all have ended, or ctx ends.
func (r *rental) tend(ctx context.Context) {
	for {
		wait, finished := r.round(ctx)
		if finished || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-time.After(wait):
		}
	}
}

// round asks for the machines' states once, and starts and ends machines as needed.
func (r *rental) round(ctx context.Context) (wait time.Duration, finished bool) {
	err := r.refresh(ctx)
	if err == nil {
		err = r.order(ctx)
	}
	err = orElse(err, r.end(ctx))
	r.d.mu.Lock()
	defer r.d.unlock()
	r.fails++
	if err == nil {
		r.fails = 0
	}
	r.note(err)
	if why := r.l.lost(); why != "" {
		r.l.Over = true
		r.d.outbox.Put(step.AllocDown{Alloc: r.l.Alloc, Refuse: !r.l.Taken, Reason: why})
		go func() { _ = r.d.Driver.Release(ctx, r.l.Alloc) }() // it never fails
	}
	r.save()
	switch {
	case r.l.finished():
		r.close()
		return 0, true
	case err != nil:
		return min(soon<<min(r.fails, 10), longest), false
	case r.l.Over || len(r.l.Orders) > 0 || r.l.up() < len(r.l.live()) || r.l.Rent.Budget > 0:
		return soon, false
	}
	return seldom, false
}

func orElse(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// refresh records the states of the machines at the provider. It asks the ssh servers of new machines whether they answer.
func (r *rental) refresh(ctx context.Context) error {
	c, err := r.d.cloud(ctx, r.l.Rent.Region)
	if err != nil {
		return err
	}
	seen, err := c.find(ctx, map[string]string{tagOwner: r.d.owner, tagAlloc: string(r.l.Alloc)})
	if err != nil {
		return err
	}
	r.d.mu.Lock()
	defer r.d.unlock()
	for _, m := range r.l.observe(r.d.now(), seen) {
		r.vacate(m)
	}
	for _, m := range r.l.live() {
		if m.Address != "" && m.Rank >= 0 && m.Up == 0 && !r.l.Over && !r.asking[m.ID] {
			r.asking[m.ID] = true
			go r.ask(ctx, m.ID, r.remote(m))
		}
	}
	r.save()
	return nil
}

// ask asks a machine's ssh server once whether it answers. If it does, the machine's worker is started.
func (r *rental) ask(ctx context.Context, id string, at wire.Remote) {
	err := ssh.Answers(ctx, &at)
	r.d.mu.Lock()
	defer r.d.unlock()
	delete(r.asking, id)
	m := r.l.find(id)
	if ctx.Err() != nil || m == nil || m.Ended != 0 || r.l.Over {
		return
	}
	if err != nil {
		m.hear(r.d.now(), err)
		return
	}
	m.Up = r.d.now()
	r.save()
	r.d.s.Log.Info("a rented machine is up", "alloc", r.l.Alloc, "machine", id, "address", m.Address)
	go r.d.Assign(r.l.Alloc, m.Rank, at)
	r.poke()
}

// order makes the orders that are needed, and repeats orders whose results are unknown, with the same tokens.
func (r *rental) order(ctx context.Context) error {
	r.d.mu.Lock()
	now := r.d.now()
	r.l.wants(now, r.d.others(r.l), func() string { return "berth-" + string(r.l.Alloc) + "-" + driver.Secret() + driver.Secret() })
	orders := r.l.incomplete(now)
	saved := r.save()
	r.d.unlock()
	if !saved {
		return job.IOError(job.Fatal, r.dir, "nothing is rented, as the order cannot be written to the ledger", nil)
	}
	for _, o := range orders {
		if err := r.place(ctx, o); err != nil && job.ClassOf(err) == job.Transient {
			return err
		}
	}
	return nil
}

// place makes the call of an order.
func (r *rental) place(ctx context.Context, o order) error {
	c, err := r.d.cloud(ctx, r.l.Rent.Region)
	if err != nil {
		return err
	}
	public, err := r.key(ctx)
	if err != nil {
		return err
	}
	m := r.l.Rent.Machines[o.Kind]
	most := 0
	if r.l.Rent.Budget > 0 && m.Price > 0 {
		most = int(r.l.Rent.Budget/m.Price*3600) + idleEnd
	}
	got, err := c.rent(ctx, o, m, r.tags(o, m), userData(public, most))
	r.d.mu.Lock()
	defer r.d.unlock()
	r.l.complete(o, got, err, r.d.now())
	r.save()
	for _, i := range got {
		r.d.s.Log.Info("a machine was rented", "alloc", r.l.Alloc, "machine", i.ID, "type", m.Name)
	}
	if err != nil {
		r.d.s.Log.Warn("cannot rent machines", "alloc", r.l.Alloc, "type", m.Name, "err", err)
	}
	return err
}

// tags returns the tags of an order's machines.
func (r *rental) tags(o order, m job.Rented) map[string]string {
	tags := map[string]string{"Name": "berth " + string(r.l.Alloc), tagOwner: r.d.owner, tagAlloc: string(r.l.Alloc), tagOrder: o.Token, tagType: m.Name,
		tagPrice: fmt.Sprint(m.Price, " ", max(m.Unit, 1), " ", m.Minimum)}
	if p := r.l.Rent.Purpose; p != "" {
		tags[tagPurpose] = p
	}
	return tags
}

// end ends the machines that are to be ended.
func (r *rental) end(ctx context.Context) error {
	r.d.mu.Lock()
	ids := []string{}
	for _, m := range r.l.ends(r.d.now(), r.d.others(r.l)) {
		ids = append(ids, m.ID)
		r.vacate(m)
	}
	r.d.unlock()
	if len(ids) == 0 {
		return nil
	}
	c, err := r.d.cloud(ctx, r.l.Rent.Region)
	if err == nil {
		err = c.end(ctx, ids)
	}
	r.d.mu.Lock()
	defer r.d.unlock()
	if err != nil {
		r.d.s.Log.Warn("machines cannot be ended now; it is tried again", "alloc", r.l.Alloc, "machines", ids, "err", err)
		return err
	}
	for _, id := range ids {
		m := r.l.find(id)
		m.Ended = r.d.now()
		r.d.s.Log.Info("a machine was ended", "alloc", r.l.Alloc, "machine", id, "why", m.Why, "cost", r.l.cost(m, m.Ended))
	}
	r.save()
	return nil
}

// vacate ends the worker of a machine that has ended or is to be ended. The driver's lock is held.
func (r *rental) vacate(m *machine) {
	if m.Up != 0 && !r.l.Over {
		go r.d.Vacate(r.l.Alloc, m.Rank, "its machine "+m.ID+" is gone: "+m.Why)
	}
}

// note reports the state of the machines to the user if it has changed. The driver's lock is held.
func (r *rental) note(err error) {
	words := []string{}
	if n := r.l.Rent.Count(); r.l.up() < n {
		words = append(words, fmt.Sprintf("%d of %d rented machines are up", r.l.up(), n))
	}
	for _, m := range r.l.live() {
		if m.Up == 0 && m.Said != "" {
			words = append(words, "ssh says: "+m.Said)
			break
		}
	}
	if why := r.l.reasons(); why != "" {
		words = append(words, why)
	}
	if err != nil {
		words = append(words, err.Error())
	}
	text := strings.Join(words, "; ")
	if text != r.noted && !r.l.Over {
		r.noted = text
		r.d.outbox.Put(step.AllocNote{Alloc: r.l.Alloc, Note: text})
		r.d.s.Log.Info("rented machines", "alloc", r.l.Alloc, "note", text)
	}
}

// save writes the ledger to the disk. The driver's lock is held.
func (r *rental) save() bool {
	err := r.l.write(r.dir)
	if err != nil {
		r.d.s.Log.Error("the ledger of rented machines cannot be written", "alloc", r.l.Alloc, "err", err)
	}
	return err == nil
}

// poke starts the next round now.
func (r *rental) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// close removes the files for reaching the machines. If a budget counts the ledger's cost, the ledger stays.
func (r *rental) close() {
	delete(r.d.rentals, r.l.Alloc)
	r.d.closed[r.l.Rent.Account] += r.l.spent(r.d.now())
	if r.l.Rent.Account == "" {
		_ = os.RemoveAll(r.dir)
		return
	}
	for _, name := range []string{keyName, keyName + ".pub", knownName} {
		_ = os.Remove(filepath.Join(r.dir, name))
	}
}

// remote returns how ssh reaches a machine. Its host key is the one that it shows at the first connection.
func (r *rental) remote(m *machine) wire.Remote {
	o := func(key, value string) string { return key + "=" + value }
	kind := r.l.Rent.Machines[m.Kind]
	words := []string{o("HostName", m.Address), o("HostKeyAlias", m.ID), o("IdentityFile", quoted(filepath.Join(r.dir, keyName))), o("IdentitiesOnly", "yes"), o("IdentityAgent", "none"),
		o("ForwardAgent", "no"), o("UserKnownHostsFile", quoted(filepath.Join(r.dir, knownName))), o("GlobalKnownHostsFile", "/dev/null"), o("StrictHostKeyChecking", "accept-new"), o("LogLevel", "ERROR")}
	if kind.User != "" {
		words = append(words, o("User", kind.User))
	}
	at := wire.Remote{Host: job.Host{Name: m.ID, CPUs: kind.Has.CPUs}, Command: r.ssh}
	for _, w := range words {
		at.Options = append(at.Options, "-o", w)
	}
	return at
}

// quoted returns a path as one word in ssh's options.
func quoted(path string) string { return strconv.Quote(strings.ReplaceAll(path, "%", "%%")) }
