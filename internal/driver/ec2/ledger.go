package ec2

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
	"berth/internal/sys/statedir"
)

// ledger is the record of an allocation's machines, on disk. It contains each machine from before its order until after its end.
type ledger struct {
	Alloc    job.AllocID    `json:"alloc"`
	Rent     job.Rent       `json:"rent"`
	Since    job.Time       `json:"since_ns"`
	Over     bool           `json:"over,omitempty"`  // the allocation has ended: all machines are to be ended
	Taken    bool           `json:"taken,omitempty"` // the provider ended the last machines, so others may be available
	Orders   []order        `json:"orders,omitempty"`
	Machines []machine      `json:"machines,omitempty"` // all machines that the allocation ever had
	Gone     map[int]string `json:"gone,omitempty"`     // ranks that get no further machine, with the reasons
}

// order is a call that rents machines and whose result is unknown.
type order struct {
	Token string   `json:"token"`
	Kind  int      `json:"kind"`  // index in Rent.Machines
	Ranks []int    `json:"ranks"` // the ranks that need a machine
	At    job.Time `json:"at_ns"`
	Few   bool     `json:"few,omitempty"` // fewer machines are accepted, as not all were available
}

// machine is a machine that was rented.
type machine struct {
	ID      string   `json:"id"`
	Kind    int      `json:"kind"`
	Rank    int      `json:"rank"` // −1: there are more machines than ranks
	Order   string   `json:"order"`
	Address string   `json:"address,omitempty"`
	Since   job.Time `json:"since_ns"`
	Up      job.Time `json:"up_ns,omitempty"`      // when its ssh server answered; 0: not yet
	Said    string   `json:"said,omitempty"`       // what ssh said last, while it is not up
	Refused job.Time `json:"refused_ns,omitempty"` // since when ssh has been refused in a way that does not pass by itself; 0: it is not
	Ended   job.Time `json:"ended_ns,omitempty"`   // when it stopped costing money; 0: it may cost money
	Why     string   `json:"why,omitempty"`        // the reason of its end
}

// notNeeded is the reason why a rank has no machine before any is hired for it.
const notNeeded = "it is not needed so far"

// newLedger returns the ledger of a new allocation.
func newLedger(id job.AllocID, rent job.Rent, now job.Time) *ledger {
	l := &ledger{Alloc: id, Rent: rent, Since: now, Gone: map[int]string{}}
	for rank := rent.Count(); rank < rent.Most(); rank++ {
		l.Gone[rank] = notNeeded
	}
	return l
}

// ledgerName is the name of the file in the allocation's folder.
const ledgerName = "ledger.json"

// readLedger returns the ledger in a folder, or nil if there is none.
func readLedger(dir string) (*ledger, error) {
	l := &ledger{}
	err := statedir.ReadJSON(filepath.Join(dir, ledgerName), l)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if l.Gone == nil {
		l.Gone = map[int]string{}
	}
	return l, nil
}

// write writes the ledger to the disk, completely or not at all.
func (l *ledger) write(dir string) error {
	return statedir.WriteJSON(filepath.Join(dir, ledgerName), l)
}

// find returns the machine with an id, or nil.
func (l *ledger) find(id string) *machine {
	i := slices.IndexFunc(l.Machines, func(m machine) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &l.Machines[i]
}

// live returns the machines that cost money.
func (l *ledger) live() (all []*machine) {
	for i := range l.Machines {
		if l.Machines[i].Ended == 0 {
			all = append(all, &l.Machines[i])
		}
	}
	return all
}

// up returns the number of live machines that answer.
func (l *ledger) up() int {
	return count(l.Machines, func(m machine) bool { return m.Ended == 0 && m.Up != 0 })
}

// count returns how many machines have a property.
func count(all []machine, is func(machine) bool) (n int) {
	for _, m := range all {
		if is(m) {
			n++
		}
	}
	return n
}

// has reports whether a rank has a machine or is in an order.
func (l *ledger) has(rank int) bool {
	return slices.ContainsFunc(l.live(), func(m *machine) bool { return m.Rank == rank }) ||
		slices.ContainsFunc(l.Orders, func(o order) bool { return slices.Contains(o.Ranks, rank) })
}

// finished reports whether nothing remains to be done.
func (l *ledger) finished() bool { return l.Over && len(l.live()) == 0 && len(l.Orders) == 0 }

// bill returns the cost of a machine of a type for a time.
func bill(r job.Rented, t time.Duration) float64 {
	f := front.Type{Price: r.Price, Unit: cmp.Or(r.Unit, 1), Minimum: r.Minimum}
	return f.Bill(max(0, t.Seconds()))
}

// cost returns the cost of a machine up to a time.
func (l *ledger) cost(m *machine, at job.Time) float64 {
	if m.Ended != 0 {
		at = m.Ended
	}
	return bill(l.Rent.Machines[m.Kind], at.Sub(m.Since))
}

// spent returns the cost of all machines up to a time. Machines of orders count as if they started now.
func (l *ledger) spent(at job.Time) (sum float64) {
	for i := range l.Machines {
		sum += l.cost(&l.Machines[i], at)
	}
	for _, o := range l.Orders {
		sum += float64(len(o.Ranks)) * bill(l.Rent.Machines[o.Kind], margin)
	}
	return sum
}
