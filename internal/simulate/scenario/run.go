package scenario

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"berth/internal/core/job"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
)

// Alone names the row in which only the rigid jobs run.
const Alone = "none"

// Report is the result of a scenario. Times are in seconds, and means are over replications.
type Report struct {
	Scenario     string   `json:"scenario,omitempty"` // its file
	Nodes        int      `json:"nodes"`              // of the cluster
	Policy       string   `json:"policy"`             // of its batch system
	Seed         uint64   `json:"seed"`               // seed of all random numbers
	Replications int      `json:"replications"`       // of each way
	Notes        []string `json:"notes,omitempty"`    // what the simulation left out or assumed
	Ways         []Row    `json:"ways"`               // one object for each way; the first has only the jobs of others

	runs []run
}

// Row is the result of one adaptor; "none" is the rigid jobs alone.
type Row struct {
	Way string `json:"way"` // its name; `none`: the jobs of others alone
	// The elastic jobs: their number in a replication, mean turnaround and wait, number of failed
	// jobs, requested allocations per job, attempts that were lost or failed, and the fraction by
	// which their mean turnaround is below that of the first adaptor.
	Jobs        Mean  `json:"jobs"`                  // your own jobs
	Turnaround  Mean  `json:"turnaround_s"`          // mean turnaround of these jobs
	Wait        Mean  `json:"wait_s"`                // mean time from submission to the first task, of your own jobs
	Failed      Mean  `json:"failed"`                // jobs that failed
	Allocations Mean  `json:"allocations"`           // allocations requested per job
	Lost        Mean  `json:"lost_attempts"`         // attempts that were cut short or failed
	Under       *Mean `json:"under_first,omitempty"` // 1 − turnaround / that of the first way
	// The rigid jobs.
	HPCJobs       Mean `json:"hpc_jobs"`         // jobs of others
	HPCTurnaround Mean `json:"hpc_turnaround_s"` // mean turnaround of these jobs
	HPCWait       Mean `json:"hpc_wait_s"`       // mean wait of these jobs
	HPCBSLD       Mean `json:"hpc_ave_bsld"`     // mean bounded slowdown of these jobs
	HPCKilled     Mean `json:"hpc_killed"`       // of these, jobs that were ended at their wall time
	// All jobs.
	Utilization Mean `json:"utilization"` // node-seconds used / (nodes × makespan), 0 to 1
	Makespan    Mean `json:"makespan_s"`  // from the first submission to the last end
	// Rented machines, per job: the cost of the machines and the data, the cost and the turnaround
	// predicted when the machines were chosen, whether the job missed the deadline, the number of
	// rented machines, and the number of machines that the provider took away.
	Cost               Mean `json:"cost"`                  // cost of rented machines and data per job
	ExpectedCost       Mean `json:"expected_cost"`         // cost per job that was predicted at the choice
	ExpectedTurnaround Mean `json:"expected_turnaround_s"` // the turnaround that was predicted then
	Late               Mean `json:"late"`                  // jobs that were done after the deadline of the way
	Rented             Mean `json:"rented"`                // machines that were rented per job
	Interrupted        Mean `json:"interrupted"`           // of these, machines that their provider ended early
}

// Mean is a mean over replications with half the width of its 95 % confidence interval, by Student's
// t. It is null without values, and the half-width is null for a single replication.
type Mean struct {
	Mean      *float64 `json:"mean"`       // mean over replications; null: there is none
	HalfWidth *float64 `json:"half_width"` // half the width of its 95 % confidence interval; null: one replication
}

// run is one simulation: a replication under one adaptor.
type run struct {
	replication int
	way         string
	cfg         sim.Config
	result      *sim.Result
}

// Progress is the number of completed simulations and of all.
type Progress struct{ Done, All int }

// Run simulates all adaptors in all replications, up to workers at once, and calls tell with its
// progress.
func (s *Scenario) Run(ctx context.Context, workers int, tell func(Progress)) (*Report, error) {
	ways := s.rows()
	runs := make([]run, s.Replications*len(ways))
	errs := make([]error, len(runs), len(runs)+1)
	var all errgroup.Group
	all.SetLimit(workers)
	var lock sync.Mutex
	progress := Progress{All: len(runs)}
	var failed atomic.Bool // no simulation begins any more; those before it end, so that the first error is always the same
	for i := 0; i < len(runs) && ctx.Err() == nil && !failed.Load(); i++ {
		all.Go(func() error {
			runs[i], errs[i] = s.simulate(ctx, i/len(ways), ways[i%len(ways)])
			if errs[i] != nil {
				failed.Store(true)
			}
			lock.Lock()
			defer lock.Unlock()
			progress.Done++
			tell(progress)
			return nil
		})
	}
	_ = all.Wait()
	if err := cmp.Or(append(errs, ctx.Err())...); err != nil {
		return nil, err
	}
	r := &Report{
		Scenario: s.Name, Nodes: s.Cluster.Nodes, Policy: string(s.Policy), Seed: s.Seed, Replications: s.Replications,
		Notes: s.Notes, runs: runs,
	}
	r.measure(len(ways))
	return r, nil
}

// simulate simulates one adaptor in a replication.
func (s *Scenario) simulate(ctx context.Context, replication int, way *Way) (r run, err error) {
	r = run{replication: replication, way: Alone, cfg: s.config(replication, way)}
	if way != nil {
		r.way = way.Name
	}
	if r.result, err = sim.Run(ctx, r.cfg); err != nil {
		return r, s.explain(err)
	}
	for i := range r.cfg.Elastic { // tasks need most of the memory, and the report has none of them
		e := &r.cfg.Elastic[i]
		e.Maps, e.Reduces, e.FirstShuffle, e.Shuffle = nil, nil, nil, nil
	}
	return r, nil
}

// rows returns the adaptors in the order of the report. The nil adaptor stands for the rigid jobs
// alone and is first, if there are rigid jobs.
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

// explain adds the scenario's position to an error of the simulator about a job.
func (s *Scenario) explain(err error) error {
	var e *job.Error
	if s.Name == "" || !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Where = s.Name + ": " + e.Where
	return &named
}

// measure computes the rows of the report from the runs.
func (r *Report) measure(ways int) {
	var first []float64 // turnaround under the first adaptor, by replication
	for i := range ways {
		row := Row{Way: r.runs[i].way}
		means, _ := row.means()
		of := make([][]float64, len(means))
		for k := i; k < len(r.runs); k += ways {
			for f, v := range r.runs[k].measure() {
				of[f] = append(of[f], v)
			}
		}
		for f, m := range means {
			*m = rounded(replicate.Mean(of[f]))
		}
		switch {
		case row.Way == Alone && len(r.runs[i].cfg.Elastic) == 0:
		case first == nil:
			first = of[turnaroundOf]
		default:
			row.Under = under(of[turnaroundOf], first)
		}
		r.Ways = append(r.Ways, row)
	}
}

// turnaroundOf is the index of the turnaround in a run's measures.
const turnaroundOf = 1

// measure returns the measures of a run, in the order of Row. The mean of no jobs is NaN.
func (r *run) measure() []float64 {
	var own sim.Outcome // the sums of its fields
	var turnaround, wait, failed, late, hpcTurnaround, hpcWait, hpcBSLD, hpcKilled float64
	for i := range r.result.Elastic {
		o := &r.result.Elastic[i]
		turnaround += o.Turnaround()
		wait += o.Wait()
		own.Allocs += o.Allocs
		own.Lost += o.Lost
		failed += number(o.Killed)
		own.Cost += o.Cost
		own.ExpectedFor += o.ExpectedFor
		own.Expected += o.Expected
		late += number(r.cfg.Adaptor.Deadline > 0 && o.Turnaround() > r.cfg.Adaptor.Deadline.Seconds())
		own.Rented += o.Rented
		own.Interrupted += o.Interrupted
	}
	for i := range r.result.Rigid {
		o := &r.result.Rigid[i]
		hpcTurnaround += o.Turnaround()
		hpcWait += o.Wait()
		hpcBSLD += o.BSLD()
		hpcKilled += number(o.Killed)
	}
	jobs, hpcJobs := float64(len(r.result.Elastic)), float64(len(r.result.Rigid))
	return []float64{
		jobs, turnaround / jobs, wait / jobs, failed, float64(own.Allocs) / jobs, float64(own.Lost),
		hpcJobs, hpcTurnaround / hpcJobs, hpcWait / hpcJobs, hpcBSLD / hpcJobs, hpcKilled,
		r.result.Utilization(r.cfg.Cluster.Nodes), r.result.End.Sub(r.result.Begin).Seconds(),
		own.Cost / jobs, own.ExpectedFor / jobs, own.Expected / jobs, late, float64(own.Rented) / jobs, float64(own.Interrupted) / jobs,
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rounded returns an estimate without the digits that may differ between machines.
func rounded(e replicate.Estimate) Mean {
	if e.N == 0 {
		return Mean{}
	}
	mean := replicate.Round(e.Mean, 6)
	return Mean{&mean, e.HalfWidth(6)}
}

// under returns the fraction by which the mean of values is below that of others in the same
// replications, or nil if that is unknown.
func under(values, others []float64) *Mean {
	m := rounded(replicate.Reduction(values, others, replicate.Mean))
	if m.Mean == nil {
		return nil
	}
	return &m
}
