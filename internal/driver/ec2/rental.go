package ec2

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	d   *Driver
	dir string
	ssh string // the command that reaches machines
	*ledger
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
	c, err := r.d.cloud(ctx, r.Rent.Region)
	if err == nil {
		if err = r.refresh(ctx, c); err == nil {
			err = r.order(ctx, c)
		}
		err = cmp.Or(err, r.end(ctx, c))
	}
	r.d.mu.Lock()
	defer r.d.unlock()
	r.fails++
	if err == nil {
		r.fails = 0
	}
	r.note(err)
	if why := r.lost(); why != "" {
		r.Over = true
		r.d.outbox.Put(step.AllocDown{Alloc: r.Alloc, Refuse: !r.Taken, Reason: why})
		go func() { _ = r.d.Driver.Release(ctx, r.Alloc) }() // it never fails
	}
	r.save()
	switch {
	case r.finished():
		r.close()
		return 0, true
	case err != nil:
		return min(soon<<min(r.fails, 10), longest), false
	case r.Over || len(r.Orders) > 0 || r.up() < len(r.live()) || r.Rent.Budget > 0:
		return soon, false
	}
	return seldom, false
}

// refresh records the states of the machines at the provider. It asks the ssh servers of new machines whether they answer.
func (r *rental) refresh(ctx context.Context, c cloud) error {
	seen, err := c.find(ctx, map[string]string{tagOwner: r.d.owner, tagAlloc: string(r.Alloc)})
	if err != nil {
		return err
	}
	r.d.mu.Lock()
	defer r.d.unlock()
	for _, m := range r.observe(r.d.s.Wall(), seen) {
		r.vacate(m)
	}
	for _, m := range r.live() {
		if m.Address != "" && m.Rank >= 0 && m.Up == 0 && !r.Over && !r.asking[m.ID] {
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
	m := r.find(id)
	if ctx.Err() != nil || m == nil || m.Ended != 0 || r.Over {
		return
	}
	if err != nil {
		m.hear(r.d.s.Wall(), err)
		return
	}
	m.Up = r.d.s.Wall()
	r.save()
	r.d.s.Log.Info("a rented machine is up", "alloc", r.Alloc, "machine", id, "address", m.Address)
	go r.d.Assign(r.Alloc, m.Rank, at)
	r.poke()
}

// order makes the orders that are needed, and repeats orders whose results are unknown, with the same tokens.
func (r *rental) order(ctx context.Context, c cloud) error {
	r.d.mu.Lock()
	now := r.d.s.Wall()
	r.wants(now, r.d.others(r.ledger), func() string { return "berth-" + string(r.Alloc) + "-" + driver.Secret() + driver.Secret() })
	orders := r.incomplete(now)
	saved := r.save()
	r.d.unlock()
	if !saved {
		return job.IOError(job.Fatal, r.dir, "nothing is rented, as the order cannot be written to the ledger", nil)
	}
	for _, o := range orders {
		if err := r.place(ctx, c, o); err != nil && job.ClassOf(err) == job.Transient {
			return err
		}
	}
	return nil
}

// place makes the call of an order.
func (r *rental) place(ctx context.Context, c cloud, o order) error {
	public, err := r.key(ctx)
	if err != nil {
		return err
	}
	m := r.Rent.Machines[o.Kind]
	most := 0
	if r.Rent.Budget > 0 && m.Price > 0 {
		most = int(r.Rent.Budget/m.Price*3600) + idleEnd
	}
	got, err := c.rent(ctx, o, m, r.tags(o, m), userData(public, most))
	r.d.mu.Lock()
	defer r.d.unlock()
	r.complete(o, got, err, r.d.s.Wall())
	r.save()
	for _, i := range got {
		r.d.s.Log.Info("a machine was rented", "alloc", r.Alloc, "machine", i.ID, "type", m.Name)
	}
	if err != nil {
		r.d.s.Log.Warn("cannot rent machines", "alloc", r.Alloc, "type", m.Name, "err", err)
	}
	return err
}

// tags returns the tags of an order's machines.
func (r *rental) tags(o order, m job.Rented) map[string]string {
	tags := map[string]string{"Name": "berth " + string(r.Alloc), tagOwner: r.d.owner, tagAlloc: string(r.Alloc), tagOrder: o.Token, tagType: m.Name,
		tagPrice: fmt.Sprint(m.Price, " ", max(m.Unit, 1), " ", m.Minimum)}
	if p := r.Rent.Purpose; p != "" {
		tags[tagPurpose] = p
	}
	return tags
}

// end ends the machines that are to be ended.
func (r *rental) end(ctx context.Context, c cloud) error {
	r.d.mu.Lock()
	ids := []string{}
	for _, m := range r.ends(r.d.s.Wall(), r.d.others(r.ledger)) {
		ids = append(ids, m.ID)
		r.vacate(m)
	}
	r.d.unlock()
	if len(ids) == 0 {
		return nil
	}
	err := c.end(ctx, ids)
	r.d.mu.Lock()
	defer r.d.unlock()
	if err != nil {
		r.d.s.Log.Warn("machines cannot be ended now; it is tried again", "alloc", r.Alloc, "machines", ids, "err", err)
		return err
	}
	for _, id := range ids {
		m := r.find(id)
		m.Ended = r.d.s.Wall()
		r.d.s.Log.Info("a machine was ended", "alloc", r.Alloc, "machine", id, "why", m.Why, "cost", r.cost(m, m.Ended))
	}
	r.save()
	return nil
}

// vacate ends the worker of a machine that has ended or is to be ended. The driver's lock is held.
func (r *rental) vacate(m *machine) {
	if m.Up != 0 && !r.Over {
		go r.d.Vacate(r.Alloc, m.Rank, "its machine "+m.ID+" is gone: "+m.Why)
	}
}

// note reports the state of the machines to the user if it has changed. The driver's lock is held.
func (r *rental) note(err error) {
	words := []string{}
	if n := r.Rent.Count(); r.up() < n {
		words = append(words, fmt.Sprintf("%d of %d rented machines are up", r.up(), n))
	}
	if i := slices.IndexFunc(r.live(), func(m *machine) bool { return m.Up == 0 && m.Said != "" }); i >= 0 {
		words = append(words, "ssh says: "+r.live()[i].Said)
	}
	if why := r.reasons(); why != "" {
		words = append(words, why)
	}
	if err != nil {
		words = append(words, err.Error())
	}
	text := strings.Join(words, "; ")
	if text != r.noted && !r.Over {
		r.noted = text
		r.d.outbox.Put(step.AllocNote{Alloc: r.Alloc, Note: text})
		r.d.s.Log.Info("rented machines", "alloc", r.Alloc, "note", text)
	}
}

// save writes the ledger to the disk. The driver's lock is held.
func (r *rental) save() bool {
	err := r.write(r.dir)
	if err != nil {
		r.d.s.Log.Error("the ledger of rented machines cannot be written", "alloc", r.Alloc, "err", err)
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
	delete(r.d.rentals, r.Alloc)
	r.d.closed[r.Rent.Account] += r.spent(r.d.s.Wall())
	if r.Rent.Account == "" {
		_ = os.RemoveAll(r.dir)
		return
	}
	for _, name := range []string{keyName, keyName + ".pub", knownName} {
		_ = os.Remove(filepath.Join(r.dir, name))
	}
}

// remote returns how ssh reaches a machine. Its host key is the one that it shows at the first connection.
func (r *rental) remote(m *machine) wire.Remote {
	kind := r.Rent.Machines[m.Kind]
	words := []string{"HostName=" + m.Address, "HostKeyAlias=" + m.ID, "IdentityFile=" + quoted(filepath.Join(r.dir, keyName)), "IdentitiesOnly=yes", "IdentityAgent=none",
		"ForwardAgent=no", "UserKnownHostsFile=" + quoted(filepath.Join(r.dir, knownName)), "GlobalKnownHostsFile=/dev/null", "StrictHostKeyChecking=accept-new", "LogLevel=ERROR"}
	if kind.User != "" {
		words = append(words, "User="+kind.User)
	}
	at := wire.Remote{Host: job.Host{Name: m.ID, CPUs: kind.Has.CPUs}, Command: r.ssh}
	for _, w := range words {
		at.Options = append(at.Options, "-o", w)
	}
	return at
}

// quoted returns a path as one word in ssh's options.
func quoted(path string) string { return strconv.Quote(strings.ReplaceAll(path, "%", "%%")) }
