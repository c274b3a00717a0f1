package scenario

import (
	"context"
	"errors"

	"berth/internal/evaluate"
	"berth/internal/job"
	"berth/internal/sim"
	"berth/internal/sim/metrics"
)

// Alone is the name of the row in which the jobs of others have the cluster to themselves.
const Alone = "none"

// Report is what a scenario came to. Times are in seconds; means are over replications.
type Report struct {
	Scenario     string   `json:"scenario,omitempty"` // its file
	Nodes        int      `json:"nodes"`
	Policy       string   `json:"policy"`
	Seed         uint64   `json:"seed"`
	Replications int      `json:"replications"`
	Notes        []string `json:"notes,omitempty"`
	Ways         []Row    `json:"ways"`

	runs []run
}

// Row is what a way came to: "none" is the jobs of others without one's own.
type Row struct {
	Way string `json:"way"`
	// Of one's own jobs: how many a replication, their means, how many failed, allocations
	// asked for a job, attempts that were cut short or failed, and by how much their mean
	// turnaround is below that of the first way, as a share.
	Jobs        Mean  `json:"jobs"`
	Turnaround  Mean  `json:"turnaround_s"`
	Wait        Mean  `json:"wait_s"`
	Failed      Mean  `json:"failed"`
	Allocations Mean  `json:"allocations"`
	Lost        Mean  `json:"lost_attempts"`
	Under       *Mean `json:"under_first,omitempty"`
	// Of the jobs of others.
	HPCJobs       Mean `json:"hpc_jobs"`
	HPCTurnaround Mean `json:"hpc_turnaround_s"`
	HPCWait       Mean `json:"hpc_wait_s"`
	HPCBSLD       Mean `json:"hpc_ave_bsld"`
	HPCKilled     Mean `json:"hpc_killed"`
	// Of all.
	Utilization Mean `json:"utilization"`
	Makespan    Mean `json:"makespan_s"`
	// Of rented machines, a job: what they and its data cost, what that and the turnaround were predicted to be when the machines were
	// chosen, how
	// many jobs missed the deadline, how many machines were rented, and how many of them the provider took away.
	Cost               Mean `json:"cost"`
	ExpectedCost       Mean `json:"expected_cost"`
	ExpectedTurnaround Mean `json:"expected_turnaround_s"`
	Late               Mean `json:"late"`
	Rented             Mean `json:"rented"`
	Interrupted        Mean `json:"interrupted"`
}

// Mean is a mean over replications with half the width of its 95 % confidence interval,
// by Student's t; null where there is nothing to take it of, or one replication only.
type Mean struct {
	Mean      *float64 `json:"mean"`
	HalfWidth *float64 `json:"half_width"`
}

// run is one simulation: a way's, of a replication.
type run struct {
	replication int
	way         string
	cfg         sim.Config
	result      *sim.Result
}

// Progress is how far the simulations are: so many of all are done.
type Progress struct{ Done, All int }

// Run simulates all ways in all replications, so many at once, and tells how far it is.
func (s *Scenario) Run(ctx context.Context, workers int, tell func(Progress)) (*Report, error) {
	ways := s.rows()
	all := s.Replications * len(ways)
	sample := func(ctx context.Context, i int) (run, error) {
		replication, way := i/len(ways), ways[i%len(ways)]
		r := run{replication: replication, way: Alone, cfg: s.Config(s.Draw(replication), way)}
		if way != nil {
			r.way = way.Name
		}
		var err error
		if r.result, err = sim.Run(ctx, r.cfg); err != nil {
			return run{}, s.explain(err)
		}
		for i := range r.cfg.Elastic { // tasks are most of the memory, and told nowhere
			e := &r.cfg.Elastic[i]
			e.Maps, e.Reduces, e.FirstShuffle, e.Shuffle = nil, nil, nil, nil
		}
		return r, nil
	}
	limits := evaluate.Limits{Min: all, Max: all, Workers: workers}
	runs, err := evaluate.Replicate(ctx, limits, sample, func(known []run) bool {
		tell(Progress{len(known), all})
		return len(known) == all
	})
	if err != nil {
		return nil, err
	}
	r := &Report{
		Scenario: s.Name, Nodes: s.Cluster.Nodes, Policy: string(s.Policy), Seed: s.Seed, Replications: s.Replications,
		Notes: s.Notes, runs: runs,
	}
	r.measure(len(ways))
	return r, nil
}

// rows returns the ways in the order of the report; nil is the jobs of others alone, which
// come first where there are any.
func (s *Scenario) rows() (ways []*Way) {
	if len(s.rigid) > 0 {
		ways = append(ways, nil)
	}
	if len(s.elastic) > 0 {
		for i := range s.Ways {
			ways = append(ways, &s.Ways[i])
		}
	}
	return ways
}

// explain names the scenario in an error of the simulator about its jobs.
func (s *Scenario) explain(err error) error {
	var e *job.Error
	if s.Name == "" || !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Where = s.Name + ": " + e.Where
	return &named
}

// measure sums the runs up, way by way.
func (r *Report) measure(ways int) {
	var first []float64 // turnaround under the first way, by replication
	for i := range ways {
		var of [fields][]float64
		for k := i; k < len(r.runs); k += ways {
			v := r.runs[k].measure()
			for f := range v {
				of[f] = append(of[f], v[f])
			}
		}
		mean := func(f int) Mean { return told(evaluate.Mean(of[f])) }
		row := Row{
			Way: r.runs[i].way, Jobs: mean(jobs), Turnaround: mean(turnaround), Wait: mean(wait),
			Failed: mean(failed), Allocations: mean(allocations), Lost: mean(lost),
			HPCJobs: mean(hpcJobs), HPCTurnaround: mean(hpcTurnaround), HPCWait: mean(hpcWait),
			HPCBSLD: mean(hpcBSLD), HPCKilled: mean(hpcKilled),
			Utilization: mean(utilization), Makespan: mean(makespan), Cost: mean(cost), ExpectedCost: mean(expectedCost),
			ExpectedTurnaround: mean(expected), Late: mean(late), Rented: mean(rented), Interrupted: mean(interrupted),
		}
		switch {
		case row.Way == Alone && len(r.runs[i].cfg.Elastic) == 0:
		case first == nil:
			first = of[turnaround]
		default:
			row.Under = under(of[turnaround], first)
		}
		r.Ways = append(r.Ways, row)
	}
}

// What is measured in a run.
const (
	jobs = iota
	turnaround
	wait
	failed
	allocations
	lost
	hpcJobs
	hpcTurnaround
	hpcWait
	hpcBSLD
	hpcKilled
	utilization
	makespan
	cost
	expectedCost
	expected
	late
	rented
	interrupted
	fields
)

// measure returns the measures of a run; NaN is the mean of no jobs.
func (r *run) measure() (v [fields]float64) {
	for i := range r.result.Elastic {
		o := &r.result.Elastic[i]
		v[turnaround] += o.Turnaround()
		v[wait] += o.Wait()
		v[allocations] += float64(o.Allocs)
		v[lost] += float64(o.Lost)
		v[failed] += number(o.Killed)
		v[cost] += o.Cost
		v[expectedCost] += o.ExpectedFor
		v[expected] += o.Expected
		v[late] += number(r.cfg.Adaptor.Deadline > 0 && o.Turnaround() > r.cfg.Adaptor.Deadline.Seconds())
		v[rented] += float64(o.Rented)
		v[interrupted] += float64(o.Interrupted)
	}
	for i := range r.result.Rigid {
		o := &r.result.Rigid[i]
		v[hpcTurnaround] += o.Turnaround()
		v[hpcWait] += o.Wait()
		v[hpcBSLD] += metrics.BSLD(o.Submit, o.Start, o.Finish)
		v[hpcKilled] += number(o.Killed)
	}
	v[jobs], v[hpcJobs] = float64(len(r.result.Elastic)), float64(len(r.result.Rigid))
	for _, f := range []int{turnaround, wait, allocations, cost, expectedCost, expected, rented, interrupted} {
		v[f] /= v[jobs]
	}
	for _, f := range []int{hpcTurnaround, hpcWait, hpcBSLD} {
		v[f] /= v[hpcJobs]
	}
	v[utilization] = r.result.Utilization(r.cfg.Cluster.Nodes)
	v[makespan] = r.result.End.Sub(r.result.Begin).Seconds()
	return v
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// told returns an estimate without the digits that are not the same on every machine.
func told(e evaluate.Estimate) Mean {
	if e.N == 0 {
		return Mean{}
	}
	mean := evaluate.Round(e.Mean, 6)
	return Mean{&mean, e.HalfWidth(6)}
}

// under returns by how much the mean of values is below that of others of the same
// replications, as a share; nil where that is not known.
func under(values, others []float64) *Mean {
	m := told(evaluate.Reduction(values, others, evaluate.Mean))
	if m.Mean == nil {
		return nil
	}
	return &m
}
