package commands

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/simulate/workload/swf"
	"berth/lab/evaluate"
)

// Table2 is the experiment of the paper's table 2.
func Table2() *Experiment {
	e := &Experiment{name: "table2"}
	e.register = func(f *pflag.FlagSet) {
		e.limitsFlag(f)
		e.hpcFlags(f)
		e.mrFlags(f, 0)
	}
	e.prepare = func([]string) (study, error) {
		limits, err := e.limits()
		return func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) {
			return s.Table2(ctx, e.mix, limits)
		}, err
	}
	return e
}

// Table3 is the experiment of the paper's table 3. Its argument is a log.
func Table3() *Experiment {
	e := &Experiment{name: "table3"}
	var day, estimates string
	e.register = func(f *pflag.FlagSet) {
		e.limitsFlag(f)
		e.mrFlags(f, 1000)
		f.StringVar(&day, "day", "auto", "day of the log, from 1 and counted from its first job; or auto")
		f.StringVar(&estimates, "estimates", string(swf.User), "wall times that HPC jobs request: user or exact")
	}
	e.prepare = func(args []string) (study, error) {
		limits, err := e.limits()
		if err == nil {
			err = e.readLog(args[0], day, estimates)
		}
		return func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) {
			return s.Table3(ctx, e.mix, limits)
		}, err
	}
	return e
}

// Fig3 is the experiment of the paper's figure 3.
func Fig3() *Experiment {
	e := &Experiment{name: "fig3"}
	var b evaluate.Bins
	e.register = func(f *pflag.FlagSet) {
		e.loadFlags(f)
		f.BoolVar(&b.Alone, "alone", false, "simulate each bin by itself, with as many jobs as the whole mix")
		f.IntVar(&b.Only, "bin", 0, "with --alone, simulate this bin only, of 1 to 9; 0 for all")
		f.BoolVar(&b.NoHPC, "no-hpc", false, "MapReduce jobs only")
	}
	e.prepare = func([]string) (_ study, err error) {
		b.Mix = e.mix
		b.MaxTime, err = parse.Limit("--max-time", e.maxTime)
		return func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Fig3(ctx, b) }, err
	}
	return e
}

// Fig4 is the experiment of the paper's figure 4.
func Fig4() *Experiment {
	e := &Experiment{name: "fig4"}
	var shapes, everies string
	e.register = func(f *pflag.FlagSet) {
		e.loadFlags(f)
		f.StringVar(&shapes, "shapes", "4,7,10.23,15,20,30,45,60", "(a): shapes of the gamma-distributed times between HPC jobs")
		f.StringVar(&everies, "mr-interarrivals", "5s,7s,10s,14s,20s,30s,60s", "(b): mean times between MapReduce jobs")
	}
	e.prepare = func([]string) (study, error) {
		w, err := e.sweep(everies)
		if err == nil {
			w.Shapes, err = list("--shapes", shapes, positiveNumber)
		}
		return func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Fig4(ctx, w) }, err
	}
	return e
}

// Variants is the experiment that compares all adaptors.
func Variants() *Experiment {
	e := &Experiment{name: "variants", adaptors: allCases()}
	var everies string
	e.register = func(f *pflag.FlagSet) {
		e.loadFlags(f)
		f.StringVar(&everies, "mr-interarrivals", "7s,10s,14s,20s,30s,60s", "mean times between MapReduce jobs")
	}
	e.prepare = func([]string) (study, error) {
		w, err := e.sweep(everies)
		return func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Variants(ctx, w) }, err
	}
	return e
}

// loadFlags adds the flags of an experiment with a figure.
func (e *Experiment) loadFlags(f *pflag.FlagSet) {
	f.StringVar(&e.svg, "svg", "", "draw the figure into this file as SVG")
	f.StringVar(&e.png, "png", "", "draw the figure into this file as PNG")
	f.StringVar(&e.maxTime, "max-time", "18h", "longest wall time that MapReduce jobs may request; 0 for no limit")
	e.hpcFlags(f)
	e.mrFlags(f, 0)
}

// limitsFlag adds the flag of the queue's maximum wall times, which limits reads.
func (e *Experiment) limitsFlag(f *pflag.FlagSet) {
	f.StringVar(&e.maxTime, "max-time", "18h", "longest wall time that MapReduce jobs may request, or several with commas for a table each; 0 for no limit")
}

func (e *Experiment) limits() ([]time.Duration, error) {
	return list("--max-time", e.maxTime, parse.Limit)
}

// sweep reads the flags of an experiment over several loads.
func (e *Experiment) sweep(everies string) (w evaluate.Sweep, err error) {
	w.Mix = e.mix
	if w.MaxTime, err = parse.Limit("--max-time", e.maxTime); err != nil {
		return w, err
	}
	w.Everies, err = list("--mr-interarrivals", everies, positive)
	return w, err
}

// positiveNumber parses a number above 0.
func positiveNumber(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v > 0 && v < 1e6) {
		return 0, job.ConfigError(flag, fmt.Sprintf("%q is not a positive number", text), "")
	}
	return v, nil
}

// readLog uses the jobs of a day of a log as the HPC jobs.
func (e *Experiment) readLog(path, day, estimates string) error {
	kind, err := parseEstimates(estimates)
	if err != nil {
		return job.ConfigError("--estimates", err.Error(), "")
	}
	o := swf.Options{Procs: e.settings.Nodes, Estimates: kind, Filter: true}
	log, err := swf.Open(path, o)
	if err != nil {
		return err
	}
	jobs, err := log.Rigid(o)
	if err = cmp.Or(err, log.None()); err != nil {
		return err
	}
	n := 0
	if day == "auto" {
		n = evaluate.NearestDay(e.settings.Nodes, e.settings.Policy, jobs)
	} else if n, err = strconv.Atoi(day); err != nil || n < 1 {
		return job.ConfigError("--day", fmt.Sprintf("%q is not a day", day), "write a number from 1, or auto")
	}
	trace := evaluate.Day(jobs, n)
	if len(trace) == 0 {
		return job.ConfigError("--day", fmt.Sprintf("%s has no jobs on day %d", path, n), "")
	}
	e.mix.HPC.Trace, e.mix.HPC.Name = trace, fmt.Sprintf("of day %d of %s", n, filepath.Base(path))
	return nil
}
