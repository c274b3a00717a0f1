package ec2

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan/front"
)

// ledger is what is known of the machines of one allocation, on disk. It says of each machine from before it is asked for until it is gone.
type ledger struct {
	Alloc    job.AllocID    `json:"alloc"`
	Rent     job.Rent       `json:"rent"`
	Since    job.Time       `json:"since_ns"`
	Over     bool           `json:"over,omitempty"`  // the allocation is: all is to be given back
	Taken    bool           `json:"taken,omitempty"` // the provider took the last machines away, so others may be had
	Orders   []order        `json:"orders,omitempty"`
	Machines []machine      `json:"machines,omitempty"` // all that it ever had
	Gone     map[int]string `json:"gone,omitempty"`     // ranks that get no machine any more, and why
}

// order is a call that rents machines, of which it is not known what came of it.
type order struct {
	Token string   `json:"token"`
	Kind  int      `json:"kind"`  // index in Rent.Machines
	Ranks []int    `json:"ranks"` // for which a machine is to be had
	At    job.Time `json:"at_ns"`
	Few   bool     `json:"few,omitempty"` // fewer will do, as all together were not to be had
}

// machine is one that was rented.
type machine struct {
	ID      string   `json:"id"`
	Kind    int      `json:"kind"`
	Rank    int      `json:"rank"` // −1: it was had beyond what is wanted
	Order   string   `json:"order"`
	Address string   `json:"address,omitempty"`
	Since   job.Time `json:"since_ns"`
	Up      job.Time `json:"up_ns,omitempty"`    // its ssh server answered; 0: not yet
	Ended   job.Time `json:"ended_ns,omitempty"` // it costs nothing any more from then on; 0: it may
	Why     string   `json:"why,omitempty"`      // it ended
}

// notNeeded is why there is no machine of a rank that no advice has asked for so far.
const notNeeded = "it is not needed so far"

// newLedger returns that of an allocation that has nothing yet.
func newLedger(id job.AllocID, rent job.Rent, now job.Time) *ledger {
	l := &ledger{Alloc: id, Rent: rent, Since: now, Gone: map[int]string{}}
	for rank := rent.Count(); rank < rent.Most(); rank++ {
		l.Gone[rank] = notNeeded
	}
	return l
}

// ledgerName is how the file is called in the allocation's folder.
const ledgerName = "ledger.json"

// readLedger returns the ledger in a folder, nil where there is none.
func readLedger(dir string) (*ledger, error) {
	l := &ledger{}
	path := filepath.Join(dir, ledgerName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := home.ReadJSON(path, l); err != nil {
		return nil, err
	}
	if l.Gone == nil {
		l.Gone = map[int]string{}
	}
	return l, nil
}

// write brings the ledger to the disk, whole or not at all.
func (l *ledger) write(dir string) error { return home.WriteJSON(filepath.Join(dir, ledgerName), l) }

// find returns the machine of an id, nil where there is none.
func (l *ledger) find(id string) *machine {
	i := slices.IndexFunc(l.Machines, func(m machine) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &l.Machines[i]
}

// live returns the machines that cost something.
func (l *ledger) live() (all []*machine) {
	for i := range l.Machines {
		if l.Machines[i].Ended == 0 {
			all = append(all, &l.Machines[i])
		}
	}
	return all
}

// up returns how many of them answer.
func (l *ledger) up() (n int) {
	for _, m := range l.live() {
		if m.Up != 0 {
			n++
		}
	}
	return n
}

// has reports whether a rank has a machine, or one was asked for.
func (l *ledger) has(rank int) bool {
	return slices.ContainsFunc(l.live(), func(m *machine) bool { return m.Rank == rank }) ||
		slices.ContainsFunc(l.Orders, func(o order) bool { return slices.Contains(o.Ranks, rank) })
}

// finished reports whether nothing is to be done any more.
func (l *ledger) finished() bool { return l.Over && len(l.live()) == 0 && len(l.Orders) == 0 }

// bill returns what a machine of a type costs that is there for so long.
func bill(r job.Rented, t time.Duration) float64 {
	f := front.Type{Price: r.Price, Unit: cmp.Or(r.Unit, 1), Minimum: r.Minimum}
	return f.Bill(max(0, t.Seconds()))
}

// cost returns what a machine will have cost at a time.
func (l *ledger) cost(m *machine, at job.Time) float64 {
	if m.Ended != 0 {
		at = m.Ended
	}
	return bill(l.Rent.Machines[m.Kind], at.Sub(m.Since))
}

// spent returns what all its machines will have cost at a time. Machines that were asked for count as if they began now.
func (l *ledger) spent(at job.Time) (sum float64) {
	for i := range l.Machines {
		sum += l.cost(&l.Machines[i], at)
	}
	for _, o := range l.Orders {
		sum += float64(len(o.Ranks)) * bill(l.Rent.Machines[o.Kind], margin)
	}
	return sum
}
