package cluster

import (
	"fmt"
	"slices"
	"testing"
)

// TestPartitionsFor: of any partition those remain that are open, take jobs of the account and the QOS, and leave jobs their nodes; the reason
// names what decides.
func TestPartitionsFor(t *testing.T) {
	parts := []Partition{
		{Name: "short"}, {Name: "main", Default: true, Preempted: "jobs of short end its jobs"}, {Name: "down", Closed: "it is down"}, {Name: "night", Later: "it opens at 20:00"},
		{Name: "hpc", Accounts: []string{"hpc"}}, {Name: "deny", Accounts: []string{"-guests", "-hpc"}}, {Name: "high", QOSes: []string{"high", "normal"}}, {Name: "nolow", QOSes: []string{"-low"}},
		{Name: "spare", Preempted: "jobs of main end its jobs"}, {Name: "hidden", Hidden: true}, {Name: "a,b"},
	}
	member := func(account, partition, qos string) Association {
		return Association{Account: account, Partition: partition, QOS: qos, Default: account == "bio"}
	}
	tree := []Account{{Name: "bio", Parent: "hpc"}, {Name: "hpc", Parent: "root"}, {Name: "low", Parent: "root"}}
	for name, tt := range map[string]struct {
		acct *Accounting
		by   Access
		want []string
	}{
		"nothing is known":   {nil, Access{}, []string{"main", "short", "deny", "nolow"}},
		"by flags":           {nil, Access{Account: "hpc", QOS: "high"}, []string{"main", "short", "hpc", "high", "nolow"}},
		"denied":             {nil, Access{Account: "guests", QOS: "low"}, []string{"main", "short"}},
		"preemptible":        {nil, Access{PreemptibleOK: true}, []string{"main", "short", "deny", "nolow", "spare"}},
		"below an account":   {&Accounting{Associations: []Association{member("bio", "", "normal")}, Accounts: tree}, Access{}, []string{"main", "short", "high", "nolow"}},
		"default QOS":        {&Accounting{Associations: []Association{member("bio", "", "low")}, Accounts: tree}, Access{}, []string{"main", "short"}},
		"other account":      {&Accounting{Associations: []Association{member("bio", "", "low"), member("low", "", "high")}, Accounts: tree}, Access{Account: "low"}, []string{"main", "short", "deny", "high", "nolow"}},
		"only in one":        {&Accounting{Associations: []Association{member("bio", "short", "normal")}, Accounts: tree}, Access{}, []string{"short"}},
		"unknown to us":      {&Accounting{Associations: []Association{member("bio", "", "normal")}, Accounts: tree}, Access{Account: "new"}, []string{"main", "short", "deny", "nolow"}},
		"no member anywhere": {&Accounting{}, Access{}, []string{"main", "short", "deny", "nolow"}},
	} {
		q := &Queue{Partitions: parts, Accounting: tt.acct}
		got, out := q.PartitionsFor(tt.by)
		if !slices.Equal(got, tt.want) || len(got)+len(out)+2 != len(parts) {
			t.Errorf("%s: %v, want %v; %v", name, got, tt.want, out)
		}
	}
	_, out := (&Queue{Partitions: parts}).PartitionsFor(Access{Account: "guests"})
	want := "[{down it is down} {night it opens at 20:00} {hpc it takes no jobs of account guests} {deny it takes no jobs of account guests} " +
		"{high it takes only jobs of QOS high,normal: name yours with --qos} {spare jobs of main end its jobs; --preemptible-ok says that this does no harm}]"
	if got := fmt.Sprint(out); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if q := (&Queue{Partitions: parts}); !q.Means("any") || q.Means("main") || (&Queue{Partitions: []Partition{{Name: "any"}}}).Means("any") {
		t.Error("what any means is not understood")
	}
}
