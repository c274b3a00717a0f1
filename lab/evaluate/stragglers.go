package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/predict/sample"
	"berth/internal/core/sched/straggler"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/lab/loads"
	"berth/lab/physics"
	"berth/lab/repeat"
)

// StragglerPlace is a kind of cluster on which jobs meet slow nodes.
type StragglerPlace struct {
	Name     string
	Spare    float64 // slots beyond those that the tasks need at once, as a fraction of these; below 0: there are fewer
	Earlier  float64 // speed of the nodes of an earlier run, whose curves are known; 0: there was none
	outliers func(tasks int, task time.Duration) loads.Outliers
}

// rateOf returns the probability that a task meets a slow spell: 0.01 and 0.005, as assumed in the
// paper no2-outliers, section 7.1.1, for 100 and for 1,000 tasks.
func rateOf(tasks int) float64 {
	if tasks < 1000 {
		return 0.01
	}
	return 0.005
}

// spell is the mean time for which a node is slow. The paper gives it only as a function of the hour
// of the day.
const spell = 20 * time.Minute

// earlierSpeed is the speed of the nodes of an earlier run: runs of the same job on one machine differ by as much.
const earlierSpeed = 1.15

// earlierTasks is the number of tasks of an earlier run whose curves are known, as many as a profile keeps.
const earlierTasks = 8

// StragglerPlaces returns the paper's cluster, on which outliers take about twice as long; its
// cloud, on which they take at least twice as long and hardly any slot is spare; a cluster on
// which all outliers hang; and the first cluster with nodes for a quarter of the tasks, on which most
// tasks begin when others are done, so that ends are expected by those. On known, the first cluster, the curves of a faster run are known.
func StragglerPlaces() []StragglerPlace {
	cluster := func(tasks int, task time.Duration) loads.Outliers {
		return loads.Outliers{Probability: rateOf(tasks), Task: task, For: spell, Least: 1.6, Mean: 2, Most: 4, Hangs: 0.05}
	}
	return []StragglerPlace{
		{"cluster", 0.2, 0, cluster},
		{"known", 0.2, earlierSpeed, cluster},
		{"narrow", -0.75, 0, cluster},
		{"cloud", 0.05, 0, func(tasks int, task time.Duration) loads.Outliers {
			return loads.Outliers{Probability: rateOf(tasks), Task: task, For: spell, Least: 2, Mean: 2.8, Most: 8, Hangs: 0.05}
		}},
		{"hangs", 0.2, 0, func(tasks int, task time.Duration) loads.Outliers {
			return loads.Outliers{Probability: rateOf(tasks), Task: task, For: spell, Least: 2, Mean: 2, Most: 2, Hangs: 1}
		}},
	}
}

// ParseStragglerPlace returns the kind of cluster with the given name.
func ParseStragglerPlace(flag, name string) (StragglerPlace, error) {
	all := StragglerPlaces()
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	i := slices.Index(names, name)
	if i < 0 {
		return StragglerPlace{}, job.ConfigError(flag, fmt.Sprintf("there is no kind of cluster %q", name), "use one of "+strings.Join(names, ", "))
	}
	return all[i], nil
}

// StragglerStudy compares rules for stragglers on bags of equal tasks, on nodes that are slow for
// some time.
type StragglerStudy struct {
	Seed         uint64
	Replications int
	Workers      int // number of simultaneous simulations
	Place        StragglerPlace
	Apps         []loads.PacedApp
	Tasks        []int
	Rules        []straggler.Rule
	Speculation  float64             // limit on extra processor time; 0: the default of jobs
	Tell         func(done, all int) // if not nil, called with the number of completed replications
}

// stragglerCase is a job of one size.
type stragglerCase struct {
	app   loads.PacedApp
	tasks int
}

// stragglerFigures are the figures of one job under one rule.
type stragglerFigures struct {
	completion, cpu, duplicates, wasted, restarts float64
	ends                                          predict.Ends
}

// stragglerRun is one job under all rules, and without slow nodes.
type stragglerRun struct {
	clear, nothing stragglerFigures
	rules          []stragglerFigures
}

// Run simulates each job Replications times, each time under all rules with the same tasks and the
// same slow nodes.
func (s *StragglerStudy) Run(ctx context.Context) (*StragglerReport, error) {
	var cases []stragglerCase
	for _, a := range s.Apps {
		for _, n := range s.Tasks {
			cases = append(cases, stragglerCase{a, n})
		}
	}
	all := len(cases) * s.Replications
	known, err := repeat.Run(ctx, repeat.Limits{Min: all, Max: all, Workers: s.Workers}, func(ctx context.Context, i int) (stragglerRun, error) {
		return s.replicate(ctx, cases[i/s.Replications], i%s.Replications)
	}, func(known []stragglerRun) bool {
		if s.Tell != nil {
			s.Tell(len(known), all)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	r := &StragglerReport{Place: s.Place.Name, Seed: s.Seed, Replications: s.Replications, Confidence: sample.Confidence}
	for i, c := range cases {
		of := known[i*s.Replications : (i+1)*s.Replications]
		for k, rule := range s.Rules {
			row := stragglerRow(of, k)
			row.Job, row.Tasks, row.Rule = c.app.Name, c.tasks, rule.Name()
			r.Rows = append(r.Rows, row)
		}
	}
	return r, nil
}

// replicate runs one job under all rules.
func (s *StragglerStudy) replicate(ctx context.Context, c stragglerCase, i int) (run stragglerRun, err error) {
	seed := seedOf(s.Seed, i)
	e := c.app.Draw(rand.New(rand.NewPCG(seed, 1)), c.tasks)
	if s.Place.Earlier > 0 {
		before := c.app.Draw(rand.New(rand.NewPCG(seed, 0)), earlierTasks)
		e.Curves = loads.Curves(&before, s.Place.Earlier)
	}
	nodes := int(math.Ceil(float64(c.tasks) * (1 + s.Place.Spare)))
	spells := make([]loads.Spells, nodes)
	for n := range spells {
		spells[n] = s.Place.outliers(c.tasks, c.app.Task).Draw(rand.New(rand.NewPCG(seed, 2+uint64(n))), job.Time(horizon))
	}
	one := func(rule straggler.Rule, spells []loads.Spells) (f stragglerFigures) {
		if err != nil {
			return f
		}
		adaptor := physics.Own(nodes)
		adaptor.Rule, adaptor.Request = rule, job.Request{Speculation: s.Speculation}
		f, err = stragglerOutcome(ctx, &physics.Paces{Spells: spells, Jobs: []loads.Job{e}},
			sim.Config{Policy: batch.FCFS, Seed: seed, Cluster: sim.Cluster{Nodes: nodes}, Adaptor: adaptor})
		if err != nil {
			err = fmt.Errorf("%s of %d tasks, rule %s: %w", c.app.Name, c.tasks, rule.Name(), err)
		}
		return f
	}
	run.clear, run.nothing = one(straggler.Nothing{}, nil), one(straggler.Nothing{}, spells)
	for _, rule := range s.Rules {
		if rule == (straggler.Nothing{}) {
			run.rules = append(run.rules, run.nothing)
			continue
		}
		run.rules = append(run.rules, one(rule, spells))
	}
	return run, err
}

// horizon is the time during which nodes become slow. No job lasts as long.
const horizon = 48 * time.Hour

func stragglerOutcome(ctx context.Context, p *physics.Paces, cfg sim.Config) (f stragglerFigures, err error) {
	r, err := sim.Run(ctx, p.Config(cfg))
	if err != nil {
		return f, err
	}
	o := &r.Elastic[0]
	f = stragglerFigures{completion: o.Turnaround(), cpu: p.Work, duplicates: float64(p.Duplicates), wasted: float64(p.Wasted), ends: p.Ends}
	f.restarts = float64(o.Lost) - f.duplicates // each duplicate ends one attempt
	return f, nil
}
