package evaluate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/loads"
	"berth/lab/physics"
	"berth/lab/repeat"
)

// DeadlineStudy compares what share of jobs of the Facebook mix, or of a trace, meet their deadlines under orders of jobs that share
// the slots of a cluster. The deadline of a job is a random multiple, from 1 to Spread, of its time alone on the whole cluster after its
// submission, as with A. Verma et al., ARIA, ICAC 2011.
type DeadlineStudy struct {
	Seed               uint64
	Jobs, Replications int
	Workers, Nodes     int
	Loads              []float64 // work that arrives, as a fraction of what the cluster can do
	Spread             float64
	Trace              []workload.Elastic // in place of the mix; nil: the mix
	Name               string             // of the jobs
	Tell               func(done, all int)
}

// deadlinePolicy is an order of jobs. Those of others know deadlines by the job's number, so that the engine does nothing of its own.
type deadlinePolicy struct {
	name string
	rank func(p *sched.Pool, j *sched.Job, due job.Time) job.Time // nil: berth's own, by deadlines of jobs
}

var deadlinePolicies = []deadlinePolicy{
	{"berth", nil},
	{"slack", func(p *sched.Pool, j *sched.Job, due job.Time) job.Time {
		at := *j
		at.Due = due
		return at.LatestStart(p.Cores)
	}},
	{"EDF", func(_ *sched.Pool, _ *sched.Job, due job.Time) job.Time { return due }},
	{"FIFO", func(*sched.Pool, *sched.Job, job.Time) job.Time { return 0 }},
	{"fair share", func(p *sched.Pool, j *sched.Job, _ job.Time) job.Time { return sched.FairRank(p, j) }},
}

// byDeadline are the rules of cores with another rank.
type byDeadline struct {
	sched.CoreRules
	due  map[job.ID]job.Time
	rank func(p *sched.Pool, j *sched.Job, due job.Time) job.Time
}

func (r byDeadline) Rank(p *sched.Pool, j *sched.Job) job.Time { return r.rank(p, j, r.due[j.ID]) }

// adaptor returns how jobs with these deadlines share the cluster. The jobs get the deadlines only under berth's own order.
func (o *deadlinePolicy) adaptor(nodes int, jobs []workload.Elastic) sim.Adaptor {
	a := physics.Own(nodes)
	a.Order, a.Scheduler = sched.FIFO, sched.Cores
	if o.rank == nil {
		return a
	}
	due := map[job.ID]job.Time{}
	for i := range jobs {
		due[sim.IDOf(&jobs[i], i)] = jobs[i].Due
		jobs[i].Due = 0
	}
	a.Scheduler = &sched.Scheduler{Name: o.name, Line: sched.Shares, WholeCores: true,
		Rules: func(base sched.CoreRules) sched.Rules { return byDeadline{base, due, o.rank} }}
	return a
}

// DeadlineReport has the share of jobs that met their deadlines, and by how much the others missed them.
type DeadlineReport struct {
	Name         string        `json:"jobs"` // the mix, or the name of the sample
	Seed         uint64        `json:"seed"` // of the random numbers
	Replications int           `json:"replications"`
	Number       int           `json:"jobs_each"` // jobs of a replication
	Nodes        int           `json:"nodes"`     // with a core each
	Rows         []DeadlineRow `json:"rows"`      // one for each load and order
}

// DeadlineRow is one order at one load.
type DeadlineRow struct {
	Load   float64  `json:"load"`               // work that arrives, as a fraction of what the cluster can do
	Policy string   `json:"order"`              // `berth`, `slack`, `EDF`, `FIFO`, `fair share`
	Met    float64  `json:"met"`                // fraction of the jobs that met their deadlines
	Half   *float64 `json:"met_half,omitempty"` // half the width of its 95 % interval; may be absent: one replication
	Work   float64  `json:"met_work"`           // work of these jobs as a fraction of all work
	Late   float64  `json:"late_s"`             // mean over all jobs of the time after their deadlines
	Took   float64  `json:"turnaround_s"`       // mean turnaround
}

type deadlineFigures struct{ met, work, late, took float64 }

// Run simulates each load with the same jobs under each order.
func (s *DeadlineStudy) Run(ctx context.Context) (*DeadlineReport, error) {
	all := len(s.Loads) * s.Replications
	known, err := repeat.Run(ctx, repeat.Limits{Min: all, Max: all, Workers: s.Workers}, func(ctx context.Context, i int) ([]deadlineFigures, error) {
		return s.replicate(ctx, s.Loads[i/s.Replications], i%s.Replications)
	}, func(known [][]deadlineFigures) bool {
		if s.Tell != nil {
			s.Tell(len(known), all)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	r := &DeadlineReport{Name: s.Name, Seed: s.Seed, Replications: s.Replications, Number: s.Jobs, Nodes: s.Nodes}
	for i, load := range s.Loads {
		for k, o := range deadlinePolicies {
			of := func(get func(deadlineFigures) float64) replicate.Estimate {
				var values []float64
				for _, run := range known[i*s.Replications : (i+1)*s.Replications] {
					values = append(values, get(run[k]))
				}
				return replicate.Mean(values)
			}
			met := of(func(f deadlineFigures) float64 { return f.met })
			r.Rows = append(r.Rows, DeadlineRow{Load: load, Policy: o.name, Met: replicate.Round(met.Mean, 4), Half: met.HalfWidth(4),
				Work: replicate.Round(of(func(f deadlineFigures) float64 { return f.work }).Mean, 4),
				Late: replicate.Round(of(func(f deadlineFigures) float64 { return f.late }).Mean, 1),
				Took: replicate.Round(of(func(f deadlineFigures) float64 { return f.took }).Mean, 1)})
		}
	}
	return r, nil
}

// replicate simulates the jobs of a replication under each order.
func (s *DeadlineStudy) replicate(ctx context.Context, load float64, i int) ([]deadlineFigures, error) {
	jobs := s.draw(load, i)
	var out []deadlineFigures
	for _, o := range deadlinePolicies {
		mine := append([]workload.Elastic(nil), jobs...)
		cfg := sim.Config{Policy: batch.FCFS, Seed: s.Seed + uint64(i), Cluster: sim.Cluster{Nodes: s.Nodes}, Adaptor: o.adaptor(s.Nodes, mine), Elastic: mine}
		r, err := sim.Run(ctx, cfg)
		if err != nil {
			return nil, err
		}
		f, work := deadlineFigures{}, 0.0
		for k := range jobs {
			late := max(0, r.Elastic[k].Finish.Sub(jobs[k].Due).Seconds())
			if late == 0 {
				f.met++
				f.work += loads.Work(&jobs[k])
			}
			work, f.late, f.took = work+loads.Work(&jobs[k]), f.late+late, f.took+r.Elastic[k].Turnaround()
		}
		n := float64(len(jobs))
		out = append(out, deadlineFigures{f.met / n, f.work / work, f.late / n, f.took / n})
	}
	return out, nil
}

// draw returns the jobs of a replication, with their deadlines. They come as densely as the load says.
func (s *DeadlineStudy) draw(load float64, i int) []workload.Elastic {
	var jobs []workload.Elastic
	if s.Trace == nil {
		jobs = workload.Drawn(workload.NewFacebook(workload.Facebook{}, rand.New(sourceOf(s.Seed, i, "mix"))).Next, s.Jobs, 0)
	} else {
		from := min(i*s.Jobs, max(0, len(s.Trace)-s.Jobs))
		jobs = append(jobs, s.Trace[from:min(from+s.Jobs, len(s.Trace))]...)
	}
	work, begin, end := 0.0, jobs[0].Submit, jobs[len(jobs)-1].Submit
	for k := range jobs {
		work += loads.Work(&jobs[k])
	}
	slower := work / float64(s.Nodes) / load / max(1, end.Sub(begin).Seconds())
	random := rand.New(sourceOf(s.Seed, i, "deadlines"))
	for k := range jobs {
		e := &jobs[k]
		e.Submit = job.Time(float64(e.Submit-begin) * slower)
		within := time.Duration(float64(s.alone(e)) * (1 + (s.Spread-1)*random.Float64()))
		e.Due = e.Submit.Add(within)
	}
	return jobs
}

// alone returns about how long the job takes alone on the whole cluster.
func (s *DeadlineStudy) alone(e *workload.Elastic) (sum time.Duration) {
	for _, tasks := range [][]time.Duration{e.Maps, e.Reduces} {
		all, longest := time.Duration(0), time.Duration(0)
		for _, d := range tasks {
			all, longest = all+d, max(longest, d)
		}
		sum += max(longest, all/time.Duration(s.Nodes)+longest/2)
	}
	return sum
}

// Text writes the report for people.
func (r *DeadlineReport) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Deadlines of %s: %d replications of %d jobs on %d nodes of one core, seed %d\n\n", r.Name, r.Replications, r.Number, r.Nodes, r.Seed)
	grid := [][]string{{"LOAD", "ORDER", "MET", "±", "WORK MET", "MEAN LATE", "MEAN TURNAROUND"}}
	for _, x := range r.Rows {
		half := "–"
		if x.Half != nil {
			half = fmt.Sprintf("%.1f %%", *x.Half*100)
		}
		grid = append(grid, []string{fmt.Sprint(x.Load), x.Policy, fmt.Sprintf("%.1f %%", x.Met*100), half, fmt.Sprintf("%.1f %%", x.Work*100), fmt.Sprintf("%.0f s", x.Late), fmt.Sprintf("%.0f s", x.Took)})
	}
	replicate.WriteGrid(&b, grid, 2)
	_, err := io.WriteString(w, b.String())
	return err
}
