package cluster

import (
	"slices"
	"testing"

	"berth/internal/core/job"
)

// TestUsable: only nodes of the partition count that are up, large enough and have what
// is asked for, and the others are told.
func TestUsable(t *testing.T) {
	node := func(cpus int, down string, features ...string) Node {
		return Node{Capacity: job.Resources{CPUs: cpus}, Down: down, Features: features}
	}
	snap := Snapshot{Nodes: []Node{node(4, "", "ib"), node(4, "drained", "ib"), node(2, "", "ib"), node(8, "", "ib"), node(8, ""), node(8, "", "ib")},
		Queue: &Queue{Partitions: []Partition{{Name: "main", Default: true, Nodes: []int{0, 1, 2, 3, 4}}}}}
	nodes, facts := snap.Usable(View{PerNode: job.Resources{CPUs: 4}, Constraint: "ib"})
	if want := []int{0, 3}; !slices.Equal(nodes, want) || facts.Usable != len(want) {
		t.Errorf("nodes %v (%d), want %v", nodes, facts.Usable, want)
	}
	want := []Excluded{{"drained", 1}, {"lacks ib", 1}, {"too small", 1}}
	if !slices.Equal(facts.Excluded, want) {
		t.Errorf("excluded %v, want %v", facts.Excluded, want)
	}
}

// TestAdmitted: a reservation of accounts is for requests of these and of those below them, or of all but these. What is not known may use it.
func TestAdmitted(t *testing.T) {
	acc := &Accounting{Associations: []Association{{Account: "lab", Default: true}, {Account: "bio"}, {Account: "new"}}, Accounts: []Account{{Name: "lab", Parent: "phys"}, {Name: "phys"}, {Name: "bio"}}}
	for _, c := range []struct {
		reservation Reservation
		accounting  *Accounting
		account     string
		named, any  int // usable nodes of a request that names it, free ones of one that names none
	}{
		{Reservation{Mine: true}, acc, "", 1, 1},
		{Reservation{Accounts: []string{"lab"}}, acc, "lab", 0, 1},
		{Reservation{Mine: true, Accounts: []string{"lab"}}, acc, "lab", 1, 1},
		{Reservation{Mine: true, Accounts: []string{"lab"}}, acc, "", 1, 1},
		{Reservation{Mine: true, Accounts: []string{"bio", "phys"}}, acc, "lab", 1, 1},
		{Reservation{Mine: true, Accounts: []string{"lab"}}, acc, "bio", 0, 1},
		{Reservation{Mine: true, Accounts: []string{"new"}}, acc, "new", 1, 1},
		{Reservation{Mine: true, Accounts: []string{"lab"}}, nil, "bio", 1, 1},
		{Reservation{Mine: true, Accounts: []string{"-phys"}}, acc, "lab", 0, 1},
		{Reservation{Mine: true, Accounts: []string{"-phys"}}, acc, "bio", 1, 1},
		{Reservation{Mine: true, Magnetic: true, Accounts: []string{"phys"}}, acc, "lab", 1, 2},
		{Reservation{Mine: true, Magnetic: true, Accounts: []string{"phys"}}, acc, "bio", 0, 1},
		{Reservation{Magnetic: true}, acc, "", 0, 1},
	} {
		c.reservation.Name, c.reservation.Nodes, c.reservation.Start = "r", []int{0}, 1
		has := job.Resources{CPUs: 1}
		s := Snapshot{At: 2, Nodes: []Node{{Name: "n1", Capacity: has, Free: has}, {Name: "n2", Capacity: has, Free: has}}, Queue: &Queue{Accounting: c.accounting,
			Partitions: []Partition{{Name: "main", Default: true, Nodes: []int{0, 1}}}, Reservations: []Reservation{c.reservation}}}
		named, _ := s.Usable(View{PerNode: has, Reservation: "r", Account: c.account})
		line, _ := s.Timeline(View{PerNode: has, Account: c.account})
		if got := line.Slots(); len(named) != c.named || len(got) != 1 || got[0].Nodes != c.any {
			t.Errorf("%+v, account %q: %d nodes by name, else %+v", c.reservation, c.account, len(named), got)
		}
	}
}
