package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/show/ui"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/draw"
	"berth/lab/evaluate"
	"berth/lab/repeat"
)

// Experiment is an experiment of the paper, or a further one, with the options from its flags.
type Experiment struct {
	name                     string
	settings                 evaluate.Settings
	mix                      evaluate.Mix
	policy, adaptors, types  string
	maxTime                  string
	hpcTime, mrTime, mrEvery string
	csv, svg, png, to        string // output files, and a folder
	register                 func(*pflag.FlagSet)
	prepare                  func(args []string) (study, error)
}

// study runs an experiment whose flags have been read.
type study func(context.Context, evaluate.Settings) (*evaluate.Report, error)

// Register adds the flags to a command's.
func (e *Experiment) Register(f *pflag.FlagSet) {
	s := &e.settings
	f.IntVar(&s.Nodes, "nodes", 128, "nodes of the cluster")
	f.StringVar(&e.policy, "policy", string(batch.CBF), "policy of the batch system: fcfs, easy, easy-sjbf or cbf")
	f.StringVar(&e.adaptors, "adaptors", cmp.Or(e.adaptors, "naive,paper,several,yield"), "adaptors to compare, from "+allCases())
	f.Uint64Var(&s.Seed, "seed", 1, "seed of all random numbers")
	f.Float64Var(&s.Precision, "precision", 0.05, "required half-width of the 95 % confidence interval, as a fraction of the mean")
	f.IntVar(&s.Limits.Min, "min-replications", 2*repeat.Min, "smallest number of replications")
	f.IntVar(&s.Limits.Max, "max-replications", 2000, "largest number of replications for each load")
	f.BoolVar(&s.Plain, "plain", false, "plain averages over replications, without control variates; needs several times as many")
	f.IntVar(&s.Limits.Workers, "jobs", 0, "simultaneous replications (default: one for each processor)")
	f.StringVar(&e.csv, "csv", "", "write the figures to this file as CSV")
	f.StringVar(&e.to, "out", "", "write everything to this folder, as "+e.name+".txt, .json, .csv and, if it has a figure, .svg and .png")
	e.register(f)
}

// hpcFlags adds the flags for the HPC jobs.
func (e *Experiment) hpcFlags(f *pflag.FlagSet) {
	f.StringVar(&e.types, "hpc-types", "typed", "typed (batch and interactive), typeless, batch or interactive jobs of Lublin and Feitelson's model")
	f.Float64Var(&e.mix.HPC.Shape, "hpc-shape", evaluate.PeakShape, "shape of the gamma-distributed times between HPC jobs (scale 0.49 s)")
	f.IntVar(&e.mix.HPC.Jobs, "hpc-jobs", 400, "number of HPC jobs; 0: as many as arrive in --hpc-time")
	f.StringVar(&e.hpcTime, "hpc-time", "1h", "time in which HPC jobs arrive")
}

func (e *Experiment) mrFlags(f *pflag.FlagSet, jobs int) {
	f.StringVar(&e.mrEvery, "mr-interarrival", "14s", "mean time between MapReduce jobs")
	f.IntVar(&e.mix.MR.Jobs, "mr-jobs", jobs, "number of MapReduce jobs; 0: as many as arrive in --mr-time")
	f.StringVar(&e.mrTime, "mr-time", "1h", "time in which MapReduce jobs arrive")
	f.IntVar(&e.mix.MR.Users, "mr-users", 1, "number of users who submit MapReduce jobs; each has one coordinator")
}

// read checks the flags that all experiments have.
func (e *Experiment) read() (err error) {
	s, hpc, mr := &e.settings, &e.mix.HPC, &e.mix.MR
	if s.Policy, err = parsePolicy(e.policy); err != nil {
		return job.ConfigError("--policy", err.Error(), "")
	}
	if err := e.counts(); err != nil {
		return err
	}
	if hpc.Types = workload.Types(e.types); e.types != "" && !slices.Contains(workload.AllTypes, hpc.Types) {
		return job.ConfigError("--hpc-types", fmt.Sprintf("%q is not a kind of workload", e.types), fmt.Sprintf("use one of %v", workload.AllTypes))
	}
	for _, d := range []struct {
		flag, text string
		to         *time.Duration
	}{{"--hpc-time", e.hpcTime, &hpc.Length}, {"--mr-time", e.mrTime, &mr.Length}, {"--mr-interarrival", e.mrEvery, &mr.Every}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = positive(d.flag, d.text); err != nil {
			return err
		}
	}
	if s.Limits.Workers == 0 {
		s.Limits.Workers = runtime.GOMAXPROCS(0)
	}
	s.Run = sim.Run
	e.mix.Cases, err = evaluate.ParseCases("--adaptors", e.adaptors)
	return err
}

// mostNodes and mostJobs limit what a typing error may request, as in scenarios.
const (
	mostNodes = 1_000_000
	mostJobs  = 10_000_000
)

// counts checks that the numbers are within their limits.
func (e *Experiment) counts() error {
	for _, n := range []struct {
		flag            string
		is, least, most int
	}{
		{"--nodes", e.settings.Nodes, 1, mostNodes}, {"--jobs", e.settings.Limits.Workers, 0, math.MaxInt32},
		{"--hpc-jobs", e.mix.HPC.Jobs, 0, mostJobs}, {"--mr-jobs", e.mix.MR.Jobs, 0, mostJobs}, {"--mr-users", e.mix.MR.Users, 1, mostJobs},
	} {
		if n.is < n.least || n.is > n.most {
			return job.ConfigError(n.flag, fmt.Sprintf("%d is not from %d to %d", n.is, n.least, n.most), "")
		}
	}
	if e.types != "" && !(e.mix.HPC.Shape > 0 && e.mix.HPC.Shape < 1e6) {
		return job.ConfigError("--hpc-shape", fmt.Sprintf("%g is not a positive number below a million", e.mix.HPC.Shape), "")
	}
	return nil
}

// positive parses a duration above 0.
func positive(flag, text string) (time.Duration, error) {
	d, err := parse.Duration(flag, text)
	if err == nil && d <= 0 {
		err = job.ConfigError(flag, fmt.Sprintf("%s is not a time", text), "")
	}
	return d, err
}

// list parses a comma-separated list with a parser for its parts.
func list[T any](flag, text string, parse func(flag, part string) (T, error)) ([]T, error) {
	var values []T
	for part := range strings.SplitSeq(text, ",") {
		v, err := parse(flag, part)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// allCases returns the names of all adaptors as a list on the command line.
func allCases() string {
	var names []string
	for _, c := range evaluate.Cases() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ",")
}

// Run runs the experiment and writes its results. Files are written last, when all their contents
// are known.
func (e *Experiment) Run(ctx context.Context, c simulation.Console, args []string) error {
	if err := e.read(); err != nil {
		return err
	}
	study, err := e.prepare(args)
	if err != nil {
		return err
	}
	if err := cmp.Or(simulation.Writable(e.csv), simulation.Writable(e.svg), simulation.Writable(e.png), simulation.WritableFolder(e.to)); err != nil {
		return err
	}
	var r *evaluate.Report
	err = c.Simulate(ctx, func(ctx context.Context, meter *ui.Meter) error {
		e.settings.Tell = func(p evaluate.Progress) { meter.Set(p.Share(e.settings.Precision), p.String()) }
		r, err = study(ctx, e.settings)
		return err
	})
	if err != nil {
		return err
	}
	files, err := e.files(r)
	if err != nil {
		return err
	}
	return c.Print(ctx, r, e.to, files)
}

// files returns the output files that were requested.
func (e *Experiment) files(r *evaluate.Report) ([]simulation.Output, error) {
	files := []simulation.Output{{Path: e.csv, Write: r.CSV}}
	name := filepath.Join(e.to, e.name)
	if e.to != "" {
		files = append(append(files, simulation.ReportFiles(name, r)...), simulation.Output{Path: name + ".csv", Write: r.CSV})
	}
	if f := draw.Report(r); f != nil && e.svg+e.png+e.to != "" {
		svg, err := f.SVG()
		if err != nil {
			return nil, err
		}
		png, err := f.PNG()
		if err != nil {
			return nil, err
		}
		files = append(files, bytesTo(e.svg, svg), bytesTo(e.png, png))
		if e.to != "" {
			files = append(files, bytesTo(name+".svg", svg), bytesTo(name+".png", png))
		}
	}
	return slices.DeleteFunc(files, func(o simulation.Output) bool { return o.Path == "" }), nil
}

// bytesTo returns an output whose contents are known.
func bytesTo(path string, data []byte) simulation.Output {
	return simulation.Output{Path: path, Write: func(w io.Writer) error { _, err := w.Write(data); return err }}
}
