package evaluate

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/sched"
	"berth/internal/simulate/sim"
)

// Case is an adaptor under comparison: a method by which MapReduce jobs request nodes.
type Case struct {
	Name    string // on the command line and in results
	Label   string // for people
	Adaptor sim.Adaptor
	bound   bool // this is the lower bound and no adaptor
}

// The names of the cases with which others are compared.
const (
	NaiveCase = "naive"
	PaperCase = "paper"
	BoundCase = "bound"
)

// Cases returns all cases: the two of the paper, berth's plan with its parts switched on one after
// another, and the lower bound of any scheduler.
func Cases() []Case {
	one := job.Request{MaxAllocs: 1}
	upper := job.Request{WallTime: job.WallUpper}
	return []Case{
		{Name: NaiveCase, Label: "naive", Adaptor: sim.Adaptor{Way: sim.Naive}},
		{Name: PaperCase, Label: "paper's adaptor", Adaptor: sim.Adaptor{Way: sim.Paper}},
		{Name: "fewest", Label: "paper's, fewest nodes", Adaptor: sim.Adaptor{Way: sim.Paper, Fewest: true}},
		{Name: "upper", Label: "Algorithm 1, by berth's plan", Adaptor: sim.Adaptor{Way: sim.Berth, Request: upper}},
		{Name: "tight", Label: "one allocation, tight", Adaptor: sim.Adaptor{Way: sim.Berth, Request: one}},
		{Name: "several", Label: "several allocations", Adaptor: sim.Adaptor{Way: sim.Berth}},
		{Name: "practised", Label: "several, profile of 20 runs", Adaptor: sim.Adaptor{Way: sim.Berth, Runs: 20}},
		{Name: "scout", Label: "unknown job, scout", Adaptor: sim.Adaptor{Way: sim.Berth, Unknown: true}},
		{Name: "shared", Label: "shared, first in first out", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.FIFO}},
		{Name: "shortest", Label: "shared, shortest first", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest}},
		{Name: "yield", Label: "shared, shortest first, yielding", Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest, Yield: true}},
		courteous("courteous", usualCourtesy),
		{Name: BoundCase, Label: "lower bound", bound: true},
	}
}

// usualCourtesy is the value of --courtesy that the evaluation recommends.
const usualCourtesy = 4

// courteous returns the case "yield" with a value of --courtesy.
func courteous(name string, x float64) Case {
	return Case{Name: name, Label: fmt.Sprintf("yielding, with --courtesy %g", x), Adaptor: sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest, Yield: true,
		Request: job.Request{Courtesy: x}}}
}

// ParseCases parses a list of names such as "naive,paper,shortest". where is the flag for error
// messages.
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
				return nil, job.ConfigError(where, fmt.Sprintf("%s is listed twice", c.Name), "list each adaptor once")
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
	if text, ok := strings.CutPrefix(name, "courteous="); ok {
		if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 && x <= job.MaxCourtesy {
			return courteous(name, x), nil
		}
	}
	return Case{}, fmt.Errorf("there is no adaptor %q", name)
}
