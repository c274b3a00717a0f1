package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/show/ui"
	"berth/lab/evaluate"
	"berth/lab/loads"
	"berth/lab/repeat"
)

// Phases are the options of berth-lab phases.
type Phases struct {
	study                      evaluate.PhaseStudy
	workloads, schedulers, out string
	measured, alphas, order    string
	ablation                   bool
}

// mostReplications limits what a typing error may request.
const mostReplications = 100_000

// Register adds the flags to a command's.
func (p *Phases) Register(f *pflag.FlagSet) {
	f.StringVar(&p.workloads, "workload", "", "workloads, with commas (default all: "+workloadNames()+")")
	f.StringVar(&p.measured, "measured", "", "simulate the measured jobs of this file instead (lab/experiments.md)")
	f.StringVar(&p.schedulers, "scheduler", "", "schedulers, with commas (default all: "+schedulerNames()+")")
	f.StringVar(&p.order, "order", string(sched.Shortest), "order of jobs, for schedulers without an order of their own: fifo or shortest, as on clusters")
	f.StringVar(&p.alphas, "alpha", "", "also run the scheduler phases with these weights of performance against fairness, with commas")
	f.BoolVar(&p.ablation, "ablation", false, "also run the scheduler phases without each term of the value of a start")
	f.BoolVar(&p.study.Fixed, "fixed-buffers", false, "tasks have Hadoop's fixed buffers for sorting under all schedulers, instead of the memory that berth gives them")
	f.Float64Var(&p.study.DiskLoss, "disk-loss", 0, "how much longer a byte takes on a disk for each further phase that uses it, as on hard disks: 0.05 for a twentieth")
	f.IntVar(&p.study.Replications, "replications", 2*repeat.Min, "number of simulations of each workload, each with other jobs")
	f.Uint64Var(&p.study.Seed, "seed", 1, "seed of all random numbers")
	f.IntVar(&p.study.Workers, "jobs", 0, "simultaneous simulations (default: one for each processor)")
	f.StringVar(&p.out, "out", "", "write everything to this folder, as phases.txt, phases.json and phases.md")
}

func workloadNames() string {
	var names []string
	for _, w := range evaluate.PhaseWorkloads() {
		names = append(names, w.Name)
	}
	return strings.Join(names, ",")
}

func schedulerNames() string { return strings.Join(evaluate.PhaseSchedulerNames(), ",") }

// read checks the flags.
func (p *Phases) read() (err error) {
	s := &p.study
	if s.Workloads, err = p.chosen(); err != nil {
		return err
	}
	if s.Cases, err = p.cases(); err != nil {
		return err
	}
	if s.Order, err = sched.ParseOrder("--order", p.order); err != nil {
		return err
	}
	if s.Replications < 1 || s.Replications > mostReplications {
		return job.ConfigError("--replications", fmt.Sprintf("%d is not from 1 to %d", s.Replications, mostReplications), "")
	}
	if !(s.DiskLoss >= 0 && s.DiskLoss <= 1) {
		return job.ConfigError("--disk-loss", fmt.Sprintf("%g is not from 0 to 1", s.DiskLoss), "")
	}
	if s.Workers < 0 {
		return job.ConfigError("--jobs", fmt.Sprintf("%d is below 0", s.Workers), "")
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	return simulation.WritableFolder(p.out)
}

// cases returns the schedulers and the variants of the scheduler phases.
func (p *Phases) cases() (cases []evaluate.PhaseCase, err error) {
	names := evaluate.PhaseSchedulerNames()
	if p.schedulers != "" {
		names, err = list("--scheduler", p.schedulers, func(flag, part string) (string, error) {
			s, err := sched.SchedulerNamed(flag, strings.TrimSpace(part), evaluate.PhaseSchedulers)
			if err != nil {
				return "", err
			}
			return s.Name, nil
		})
	}
	for _, name := range names {
		cases = append(cases, evaluate.PhaseCase{Scheduler: name})
	}
	if err == nil && p.alphas != "" {
		var alphas []float64
		alphas, err = list("--alpha", p.alphas, notNegative)
		for i := range alphas {
			cases = append(cases, evaluate.PhaseCase{Scheduler: sched.Phases.Name, Alpha: &alphas[i]})
		}
	}
	if p.ablation {
		for _, t := range evaluate.PhaseTerms {
			cases = append(cases, evaluate.PhaseCase{Scheduler: sched.Phases.Name, Without: t})
		}
	}
	return cases, err
}

// notNegative parses a number of at least 0.
func notNegative(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0 && v < 1e6) {
		return 0, job.ConfigError(flag, fmt.Sprintf("%q is not a number of at least 0", text), "")
	}
	return v, nil
}

// chosen returns the selected workloads.
func (p *Phases) chosen() ([]evaluate.PhaseWorkload, error) {
	if p.measured == "" {
		return evaluate.ParsePhaseWorkloads("--workload", p.workloads)
	}
	if p.workloads != "" {
		return nil, job.ArgumentError("", "both --workload and --measured are given", "give one of them")
	}
	text, err := os.ReadFile(p.measured)
	if err != nil {
		return nil, &job.Error{Class: job.User, Code: job.CodeIO, Where: p.measured, What: "cannot read the file", Err: err}
	}
	m, err := loads.ParseMeasured(p.measured, text)
	if err != nil {
		return nil, err
	}
	p.study.Replications = 1 // nothing is random
	return []evaluate.PhaseWorkload{evaluate.MeasuredPhases(m)}, nil
}

// Run simulates and writes the results.
func (p *Phases) Run(ctx context.Context, c simulation.Console) error {
	if err := p.read(); err != nil {
		return err
	}
	var r *evaluate.PhaseReport
	err := c.Simulate(ctx, func(ctx context.Context, meter *ui.Meter) (err error) {
		p.study.Tell = func(done, all int) { meter.Set(float64(done)/float64(all), fmt.Sprintf("%d of %d runs", done, all)) }
		r, err = p.study.Run(ctx)
		return err
	})
	if err != nil {
		return err
	}
	var files []simulation.Output
	if p.out != "" {
		files = append(simulation.ReportFiles(filepath.Join(p.out, "phases"), r), simulation.Output{Path: filepath.Join(p.out, "phases.md"), Write: r.Markdown})
	}
	return c.Print(ctx, r, p.out, files)
}
