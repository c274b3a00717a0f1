package evaluate

import (
	"fmt"
	"strings"

	"berth/internal/job"
	"berth/internal/job/parse"
	"berth/internal/sched"
	"berth/internal/sim"
)

// Case is a way in which MapReduce jobs come to the cluster.
type Case struct {
	Name    string // on the command line and in results
	Label   string // for people
	Adaptor sim.Adaptor
	bound   bool // no way at all: the lower bound
}

// Names of cases that others are measured against.
const (
	NaiveCase = "naive"
	PaperCase = "paper"
	BoundCase = "bound"
)

// Cases are all that there are: the paper's two, berth's plan with parts of it switched on
// one after another, and what no scheduler can beat.
func Cases() []Case {
	one := job.Request{MaxAllocs: 1}
	upper := job.Request{MaxAllocs: 1, WallTime: job.WallUpper}
	return []Case{
		{Name: NaiveCase, Label: "naive", Adaptor: sim.Adaptor{Way: sim.Naive, Fast: true}},
		{Name: PaperCase, Label: "paper's adaptor", Adaptor: sim.Adaptor{Way: sim.Paper, Fast: true}},
		{Name: "fewest", Label: "paper's, fewest nodes", Adaptor: sim.Adaptor{Way: sim.Paper, Fewest: true, Fast: true}},
		{Name: "upper", Label: "one allocation, upper bound", Adaptor: sim.Adaptor{Way: sim.Berth, Request: upper, Fast: true}},
		{Name: "tight", Label: "one allocation, tight", Adaptor: sim.Adaptor{Way: sim.Berth, Request: one, Fast: true}},
		{Name: "several", Label: "several allocations", Adaptor: sim.Adaptor{Way: sim.Berth}},
		{Name: "practised", Label: "several, of 20 earlier runs", Adaptor: sim.Adaptor{Way: sim.Berth, Runs: 20}},
		{Name: "scout", Label: "unknown job, scout", Adaptor: sim.Adaptor{Way: sim.Berth, Unknown: true}},
		{Name: "shared", Label: "shared, first in first out", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.FIFO}},
		{Name: "shortest", Label: "shared, shortest first", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest}},
		{Name: "yield", Label: "shared, shortest first, yielding", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest, Yield: true}},
		{Name: BoundCase, Label: "lower bound", bound: true},
	}
}

// ParseCases returns the cases of a list of names, "naive,paper,shortest" say.
func ParseCases(where, list string) ([]Case, error) {
	all := Cases()
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	var picked []Case
	for name := range strings.SplitSeq(list, ",") {
		c, err := caseOf(all, strings.TrimSpace(name))
		if err != nil {
			return nil, job.ConfigError(where, err.Error(), parse.DidYouMean(name, names, "use some of "+strings.Join(names, ", ")))
		}
		for _, p := range picked {
			if p.Name == c.Name {
				return nil, job.ConfigError(where, fmt.Sprintf("%s stands twice", c.Name), "")
			}
		}
		picked = append(picked, c)
	}
	return picked, nil
}

func caseOf(all []Case, name string) (Case, error) {
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("there is no adaptor %q", name)
}
