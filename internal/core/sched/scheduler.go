package sched

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// Scheduler is a way to assign tasks and their phases to nodes: rules, and the line in which jobs wait. Users choose it
// by its name.
type Scheduler struct {
	Name string
	Line Line
	// Alpha is the weight of performance relative to fairness (paper phase-level-scheduling, eq. 1); 0 in the schedulers
	// below: their rules have none.
	Alpha float64
	// WholeCores says that tasks hold whole cores and memory only.
	WholeCores bool
	// Rules returns the rules for a pool, mostly base with some of its methods replaced.
	Rules func(base CoreRules) Rules
}

// Line says which job is first where several wait.
type Line uint8

// The lines.
const (
	InOrder Line = iota // as the user's Order says
	Weighed             // likewise, but in the order Shortest the place in the line is one of several criteria
	Arrived             // by submission, whatever the Order
	Shares              // by what jobs have for their weight, whatever the Order
)

// The schedulers of berth, each in a file of its own. The laboratory has further ones, those of other systems.
var (
	// Prism decides phase by phase, as in the paper phase-level-scheduling.
	Prism = &Scheduler{Name: "prism", Line: Shares, Alpha: 1, Rules: func(base CoreRules) Rules { return prism{base} }}
	// Phases decides phase by phase, each where its utility is highest, with the remaining work of jobs.
	Phases = &Scheduler{Name: "phases", Line: Weighed, Alpha: 1, Rules: func(base CoreRules) Rules { return phases{base} }}
	// Cores gives a task whole cores from its start to its end.
	Cores = &Scheduler{Name: "cores", WholeCores: true, Rules: func(base CoreRules) Rules { return base }}
)

// Schedulers returns the schedulers of berth, the one that is used if the user names none first.
func Schedulers() []*Scheduler { return []*Scheduler{Phases, Cores, Prism} }

// mostAlpha is the highest weight that can be chosen.
const mostAlpha = 1000

// String returns the name.
func (s *Scheduler) String() string { return s.Name }

// Pool returns a pool without nodes, of allocations of a batch system or of one machine. order applies to
// schedulers whose line has it: in the order FIFO their jobs of different weights share the nodes in proportion to their weights,
// each weight with its jobs in the order of submission. ageing is the share of the pool's cores by which jobs age, see Ageing.
func (s *Scheduler) Pool(order Order, batch bool, ageing float64) Pool {
	shortest, ordered := order.On(batch) == Shortest, s.Line == InOrder || s.Line == Weighed
	return Pool{
		Rules: s.Rules(CoreRules{shortest: shortest, ageing: ageing, alpha: s.Alpha}), shortest: ordered && shortest, Weighed: ordered && !shortest,
		strict: s.Line == InOrder || s.Line == Arrived || s.Line == Weighed && !shortest,
	}
}

// SchedulerNamed returns the scheduler of that name among those given; the empty name means the first, and NAME:alpha=2 the
// scheduler with another weight of performance. where names the flag or file of the name, for the error.
func SchedulerNamed(where, name string, among []*Scheduler) (*Scheduler, error) {
	names := make([]string, len(among))
	plain, weight, weighed := strings.Cut(name, ":alpha=")
	for i, s := range among {
		switch names[i] = s.Name; {
		case !weighed && (s.Name == name || name == ""):
			return s, nil
		case weighed && s.Name == plain && s.Alpha > 0:
			alpha, err := strconv.ParseFloat(weight, 64)
			if err != nil || !(alpha >= 0 && alpha <= mostAlpha) {
				return nil, job.ConfigError(where, fmt.Sprintf("%q is not a weight of performance against fairness", weight), "write a number from 0 to 1000, as in "+plain+":alpha=2")
			}
			tuned := *s
			tuned.Name, tuned.Alpha = name, alpha
			return &tuned, nil
		case weighed && s.Name == plain:
			return nil, job.ConfigError(where, fmt.Sprintf("the scheduler %s does not weigh performance against fairness", plain), "write "+plain)
		}
	}
	return nil, job.ConfigError(where, fmt.Sprintf("there is no scheduler %q", name), "write "+strings.Join(names, ", "))
}
