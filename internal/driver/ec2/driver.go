package ec2

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/job"
	"berth/internal/private"
	"berth/internal/step"
)

// closePatience is how long the end of a coordinator waits for machines that are to be given back. What is left the next one does, or the machines themselves.
const closePatience = 20 * time.Second

// Driver rents machines for allocations, and keeps workers on them.
type Driver struct {
	*local.Driver
	s     driver.Setup
	dir   string // a folder for each allocation's ledger
	owner string // by which this state folder's machines are told apart
	told  *driver.Outbox

	ctx    context.Context
	cancel context.CancelFunc
	tended sync.WaitGroup

	mu      sync.Mutex
	env     []string         // leads to the provider
	clouds  map[string]cloud // by region
	rentals map[job.AllocID]*rental
	closed  map[string]float64 // what allocations that are over have cost, by account
}

var _ driver.Driver = (*Driver)(nil)
var _ driver.Entered = (*Driver)(nil)

// New returns the driver. What allocations that nobody knows any more have rented is given back.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	workers := filepath.Join(s.State, Name)
	if err := local.Sweep(workers, s.Known); err != nil && s.Log != nil {
		s.Log.Warn("an allocation that is over leaves something", "err", err)
	}
	d := newDriver(s, workers, ledgers(s.State))
	return d, d.takeStock()
}

// newDriver returns a driver without any allocation; in workers is a folder of each allocation's workers, in rented one of its machines.
func newDriver(s driver.Setup, workers, rented string) *Driver {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	d := &Driver{s: s, dir: rented, told: driver.NewOutbox(s.Report), env: s.Env, clouds: map[string]cloud{}, rentals: map[job.AllocID]*rental{}, closed: map[string]float64{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	own := s
	own.Report = d.report
	d.Driver = local.New(local.Options{Setup: own, Dir: workers})
	return d
}

// report passes on what the workers' driver tells. An allocation that it has ended, as its time was over, needs no machines.
func (d *Driver) report(in step.Input) {
	if down, is := in.(step.AllocDown); is {
		d.mu.Lock()
		d.over(down.Alloc)
		d.unlock()
	}
	if d.s.Report != nil {
		d.s.Report(in)
	}
}

// over has the machines of an allocation given back. The lock is held.
func (d *Driver) over(id job.AllocID) {
	if r := d.rentals[id]; r != nil && !r.l.Over {
		r.l.Over = true
		r.save()
		r.poke()
	}
}

// ledgers is the folder in a coordinator's own in which rented machines are noted.
func ledgers(state string) string { return filepath.Join(state, "rented") }

// takeStock takes up the ledgers of allocations that are over.
func (d *Driver) takeStock() error {
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.identify(); err != nil {
		return err
	}
	ids, err := driver.Unknown(d.dir, d.s.Known)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.unlock()
	for _, id := range ids {
		l, err := readLedger(filepath.Join(d.dir, string(id)))
		switch {
		case err != nil:
			d.s.Log.Error("a ledger of rented machines cannot be read: look for machines with berth machines list", "alloc", id, "err", err)
		case l == nil:
			_ = os.RemoveAll(filepath.Join(d.dir, string(id))) // nothing was rented yet
		case l.finished():
			d.closed[l.Rent.Account] += l.spent(d.now())
		default:
			l.Over = true
			d.keep(l, "")
		}
	}
	return nil
}

// identify finds out by which name this state folder's machines are known, and chooses one where there is none.
func (d *Driver) identify() (err error) {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: d.dir, What: "cannot make the folder of rented machines", Err: err}
	}
	d.owner, err = owner(d.dir, true)
	return err
}

// owner reads the name from the folder of ledgers; it is empty where there is none and none is to be chosen.
func owner(dir string, choose bool) (string, error) {
	path := filepath.Join(dir, "owner")
	b, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(b)); err == nil && name != "" {
		return name, nil
	}
	if !choose && errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	name := driver.Secret()
	f, err := private.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err == nil {
		_, err = f.WriteString(name + "\n")
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return "", &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: path, What: "cannot note by which name rented machines are known", Err: err}
	}
	return name, nil
}

func (d *Driver) unlock() {
	d.mu.Unlock()
	d.told.Flush()
}

// now is the wall clock, which the provider goes by as well.
func (d *Driver) now() job.Time {
	if d.s.Wall != nil {
		return d.s.Wall()
	}
	return d.s.Now()
}

// keep has a ledger's machines looked after from now on. The lock is held.
func (d *Driver) keep(l *ledger, command string) *rental {
	r := &rental{d: d, dir: filepath.Join(d.dir, string(l.Alloc)), ssh: command, l: l, wake: make(chan struct{}, 1), asking: map[string]bool{}}
	d.rentals[l.Alloc] = r
	d.tended.Go(func() { r.tend(d.ctx) })
	return r
}

// others returns what other allocations of the same account have cost, and will have cost a margin from now. The lock is held.
func (d *Driver) others(l *ledger) float64 {
	if l.Rent.Account == "" {
		return 0
	}
	sum := d.closed[l.Rent.Account]
	for _, r := range d.rentals {
		if r.l != l && r.l.Rent.Account == l.Rent.Account {
			sum += r.l.spent(d.now().Add(margin))
		}
	}
	return sum
}

// cloud returns a region of the provider.
func (d *Driver) cloud(ctx context.Context, region string) (cloud, error) {
	d.mu.Lock()
	c, known := d.clouds[region]
	env := d.env
	d.mu.Unlock()
	if known {
		return c, nil
	}
	c, err := connect(ctx, env, region)
	if err == nil {
		d.mu.Lock()
		d.clouds[region] = c
		d.mu.Unlock()
	}
	return c, err
}

// Use has the provider reached as the environment of a command says.
func (d *Driver) Use(_ string, env []string) error {
	d.mu.Lock()
	defer d.unlock()
	d.env = env
	clear(d.clouds)
	return nil
}

// Request rents the machines of an allocation. Each has a worker as soon as it is up.
func (d *Driver) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return d.begin(id, req, newLedger(id, req.Remote.Rent, d.now()), func() error { return d.Driver.Request(ctx, id, req) })
}

// Adopt goes on with an allocation of an earlier coordinator: machines that it rented, and may have rented, are found again.
func (d *Driver) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	l, err := readLedger(filepath.Join(d.dir, string(id)))
	if err != nil {
		return err
	}
	if l == nil {
		l = newLedger(id, req.Remote.Rent, d.now())
	}
	return d.begin(id, req, l, func() error { return d.Driver.Adopt(ctx, id, req) })
}

func (d *Driver) begin(id job.AllocID, req job.AllocRequest, l *ledger, workers func() error) error {
	if req.Remote.Rent.Count() != req.Nodes {
		return &job.Error{Class: job.Fatal, Code: job.CodeConfig, Where: string(id), What: "an allocation of rented machines names as many as it has nodes"}
	}
	if err := d.identify(); err != nil {
		return err
	}
	dir := filepath.Join(d.dir, string(id))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: "cannot make the folder of rented machines", Err: err}
	}
	if err := errors.Join(l.write(dir), workers()); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.unlock()
	r := d.keep(l, req.Remote.Command)
	for _, m := range l.live() {
		if m.Up != 0 { // where its worker is held already, that does nothing
			go d.Assign(id, m.Rank, r.remote(m))
		}
	}
	return nil
}

// Release ends an allocation: workers now, and machines as soon as the provider can be told.
func (d *Driver) Release(ctx context.Context, id job.AllocID) error {
	err := d.Driver.Release(ctx, id)
	d.mu.Lock()
	defer d.unlock()
	d.over(id)
	return err
}

// Snapshot returns the machines that are up.
func (d *Driver) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	d.mu.Lock()
	defer d.unlock()
	s := cluster.Snapshot{Driver: Name, At: d.s.Now()}
	for _, r := range d.rentals {
		for _, m := range r.l.live() {
			if has := r.l.Rent.Machines[m.Kind].Has; m.Up != 0 {
				s.Nodes = append(s.Nodes, cluster.Node{Name: m.ID, Capacity: has, Free: has})
			}
		}
	}
	return s, nil
}

// Close stops looking after machines, once those that nobody needs are given back. The others live on.
func (d *Driver) Close() error {
	err := d.Driver.Close()
	d.told.Close()
	for until := time.Now().Add(closePatience); d.owes() && time.Now().Before(until); {
		time.Sleep(soon / 20)
	}
	d.cancel()
	d.tended.Wait()
	return err
}

// owes reports whether machines of allocations that are over are to be given back yet.
func (d *Driver) owes() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.rentals {
		if r.l.Over && len(r.l.live()) > 0 {
			return true
		}
	}
	return false
}
