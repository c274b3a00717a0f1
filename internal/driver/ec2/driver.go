package ec2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/sys/private"
)

// closePatience is how long Close waits until unneeded machines are ended. The next coordinator ends the others, or they shut themselves down.
const closePatience = 20 * time.Second

// Driver rents machines for allocations and keeps workers running on them.
type Driver struct {
	*local.Driver
	s      driver.Setup
	dir    string // has a folder with the ledger of each allocation
	owner  string // distinguishes the machines of this state folder from others
	outbox *driver.Outbox

	ctx    context.Context
	cancel context.CancelFunc
	tended sync.WaitGroup

	mu      sync.Mutex
	env     []string         // contains the provider's keys and endpoint
	clouds  map[string]cloud // by region
	rentals map[job.AllocID]*rental
	closed  map[string]float64 // cost of ended allocations, by account
}

var _ driver.Entered = (*Driver)(nil)

// New returns the driver. It ends the machines of allocations that no coordinator knows any more.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	workers := filepath.Join(s.State, Name)
	if err := local.Sweep(workers, s.Known); err != nil {
		s.Log.Warn("the remains of ended allocations cannot be removed", "err", err)
	}
	d := newDriver(s, workers, ledgers(s.State))
	return d, d.loadLedgers()
}

// newDriver returns a driver without allocations. workers has a folder for each allocation's workers, and rented one for its machines.
func newDriver(s driver.Setup, workers, rented string) *Driver {
	d := &Driver{s: s, dir: rented, outbox: driver.NewOutbox(s.Report), env: s.Env, clouds: map[string]cloud{}, rentals: map[job.AllocID]*rental{}, closed: map[string]float64{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	own := s
	own.Report = d.report
	d.Driver = local.New(local.Options{Setup: own, Dir: workers})
	return d
}

// report passes on the reports of the workers' driver. When that driver has ended an allocation at its wall time, the machines are ended, too.
func (d *Driver) report(in step.Input) {
	d.mu.Lock()
	defer d.unlock()
	if down, is := in.(step.AllocDown); is {
		d.over(down.Alloc)
	}
	d.outbox.Put(in)
}

// over marks an allocation as ended, so that its machines are ended. The lock is held.
func (d *Driver) over(id job.AllocID) {
	if r := d.rentals[id]; r != nil && !r.Over {
		r.Over = true
		r.save()
		r.poke()
	}
}

// ledgers returns the folder of the ledgers in a coordinator's own folder.
func ledgers(state string) string { return filepath.Join(state, "rented") }

// folder returns the folder of an allocation's ledger.
func (d *Driver) folder(id job.AllocID) string { return filepath.Join(d.dir, string(id)) }

// loadLedgers reads the ledgers of ended allocations.
func (d *Driver) loadLedgers() error {
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.own(); err != nil {
		return err
	}
	ids, err := driver.Unknown(d.dir, d.s.Known)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.unlock()
	for _, id := range ids {
		l, err := readLedger(d.folder(id))
		switch {
		case err != nil:
			d.s.Log.Error("a ledger of rented machines cannot be read: check with berth machines list whether machines still run", "alloc", id, "err", err)
		case l == nil:
			_ = os.RemoveAll(d.folder(id)) // nothing was rented yet
		case l.finished():
			d.closed[l.Rent.Account] += l.spent(d.s.Wall())
		default:
			l.Over = true
			d.watch(l, "")
		}
	}
	return nil
}

// own gives the driver its owner's name, once: two first requests at a time would choose two names, and machines with one of them would be lost.
func (d *Driver) own() (err error) {
	d.mu.Lock()
	defer d.unlock()
	if d.owner == "" {
		d.owner, err = owner(d.dir, true)
	}
	return err
}

// owner reads the owner's name from the folder of ledgers. If there is none, it chooses one or returns "".
func owner(dir string, choose bool) (string, error) {
	path := filepath.Join(dir, "owner")
	b, err := os.ReadFile(path)
	name := strings.TrimSpace(string(b))
	if name != "" || !choose && errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	name = driver.Secret()
	if err := private.WriteFile(path, name+"\n"); err != nil {
		return "", job.IOError(job.Fatal, path, "cannot write the owner's name of rented machines", err)
	}
	return name, nil
}

func (d *Driver) unlock() {
	d.mu.Unlock()
	d.outbox.Flush()
}

// watch starts the goroutine that looks after a ledger's machines. The lock is held.
func (d *Driver) watch(l *ledger, command string) *rental {
	r := &rental{d: d, dir: d.folder(l.Alloc), ssh: command, ledger: l, wake: make(chan struct{}, 1), asking: map[string]bool{}}
	d.rentals[l.Alloc] = r
	d.tended.Go(func() { r.tend(d.ctx) })
	return r
}

// others returns what other allocations of the same account will have cost a margin from now. The lock is held.
func (d *Driver) others(l *ledger) float64 {
	if l.Rent.Account == "" {
		return 0
	}
	sum := d.closed[l.Rent.Account]
	for _, r := range d.rentals {
		if r.ledger != l && r.Rent.Account == l.Rent.Account {
			sum += r.spent(d.s.Wall().Add(margin))
		}
	}
	return sum
}

// cloud returns the client for a region of the provider.
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

// Use makes env the environment with the provider's keys and endpoint.
func (d *Driver) Use(_ string, env []string) error {
	d.mu.Lock()
	defer d.unlock()
	d.env = env
	clear(d.clouds)
	return nil
}

// Request rents the machines of an allocation. Each gets a worker as soon as it is up.
func (d *Driver) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return d.begin(ctx, id, req, newLedger(id, req.Remote.Rent), d.Driver.Request)
}

// Adopt continues an allocation of an earlier coordinator. It finds the machines that the earlier coordinator rented, or may have rented.
func (d *Driver) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	l, err := readLedger(d.folder(id))
	if err != nil {
		return err
	}
	if l == nil {
		l = newLedger(id, req.Remote.Rent)
	}
	return d.begin(ctx, id, req, l, d.Driver.Adopt)
}

func (d *Driver) begin(ctx context.Context, id job.AllocID, req job.AllocRequest, l *ledger, workers func(context.Context, job.AllocID, job.AllocRequest) error) error {
	if req.Remote.Rent.Count() != req.Nodes {
		return &job.Error{Class: job.Fatal, Code: job.CodeConfig, Where: string(id), What: "the numbers of machines and nodes of the allocation differ"}
	}
	dir := d.folder(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return job.IOError(job.Fatal, dir, "cannot create the folder of rented machines", err)
	}
	if err := d.own(); err != nil {
		return err
	}
	if err := errors.Join(l.write(dir), workers(ctx, id, req)); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.unlock()
	r := d.watch(l, req.Remote.Command)
	for _, m := range l.live() {
		if m.Up != 0 { // this does nothing if its worker lives
			go d.Assign(id, m.Rank, r.remote(m))
		}
	}
	return nil
}

// Release ends an allocation: its workers now, and its machines as soon as the provider answers.
func (d *Driver) Release(ctx context.Context, id job.AllocID) error {
	err := d.Driver.Release(ctx, id)
	d.mu.Lock()
	defer d.unlock()
	d.over(id)
	return err
}

// Close ends unneeded machines and stops. Other machines continue.
func (d *Driver) Close() error {
	err := d.Driver.Close()
	d.outbox.Close()
	for until := time.Now().Add(closePatience); d.ending() && time.Now().Before(until); {
		time.Sleep(soon / 20)
	}
	d.cancel()
	d.tended.Wait()
	return err
}

// ending reports whether machines of ended allocations still run.
func (d *Driver) ending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.rentals {
		if r.Over && len(r.live()) > 0 {
			return true
		}
	}
	return false
}
