package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
	"berth/internal/job"
	"berth/internal/sim"
	"berth/internal/sim/batch"
	"berth/internal/ui"
	"berth/internal/workload"
)

// experiment is the flags that the experiments of berth simulate have in common.
type experiment struct {
	settings          evaluate.Settings
	hpc               evaluate.HPC
	mr                evaluate.MR
	policy, adaptors  string
	maxTime, types    string
	hpcTime, mrTime   string
	mrEvery           string
	csv, svg, png, to string // files, and a folder
}

// flags adds those of all experiments; cases are the adaptors that are compared by default.
func (e *experiment) flags(c *cobra.Command, cases string) {
	f := c.Flags()
	s := &e.settings
	f.IntVar(&s.Nodes, "nodes", 128, "nodes of the cluster")
	f.StringVar(&e.policy, "policy", string(batch.CBF), "how the batch system chooses: fcfs, easy, easy-sjbf or cbf")
	f.StringVar(&e.adaptors, "adaptors", cases, "ways to bring MapReduce jobs to the cluster, of "+caseNames())
	f.Uint64Var(&s.Seed, "seed", 1, "seed that all random numbers come from")
	f.Float64Var(&s.Precision, "precision", 0.05, "half-width of the 95 % confidence interval at which a mean is known well enough, as a share of it")
	f.IntVar(&s.Limits.Min, "min-replications", 2*evaluate.MinReplications, "replications at least")
	f.IntVar(&s.Limits.Max, "max-replications", 2000, "replications at most, for each load")
	f.BoolVar(&s.Plain, "plain", false, "plain averages over replications, without control variates: takes several times as many")
	f.IntVar(&s.Limits.Workers, "jobs", 0, "replications at once (default: one a processor)")
	f.StringVar(&e.csv, "csv", "", "write the figures to this file as CSV")
	f.StringVar(&e.to, "out", "", "write everything to this folder, as "+c.Name()+".txt, .json, .csv and, if it has a figure, .svg and .png")
}

// draws adds the flags of a figure.
func (e *experiment) draws(c *cobra.Command) {
	c.Flags().StringVar(&e.svg, "svg", "", "draw the figure into this file as SVG")
	c.Flags().StringVar(&e.png, "png", "", "draw the figure into this file as PNG")
}

// limit adds the flag of the queue's maximum time.
func (e *experiment) limit(c *cobra.Command, usage string) {
	c.Flags().StringVar(&e.maxTime, "max-time", "18h", usage)
}

// hpcFlags and mrFlags add those of what jobs there are.
func (e *experiment) hpcFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&e.types, "hpc-types", "typed", "typed (batch and interactive), typeless, batch or interactive jobs of Lublin and Feitelson's model")
	f.Float64Var(&e.hpc.Shape, "hpc-shape", evaluate.PeakShape, "shape of the gamma distribution between HPC jobs, of scale 0.49 s")
	f.IntVar(&e.hpc.Jobs, "hpc-jobs", 400, "number of HPC jobs; 0: as many as come in --hpc-time")
	f.StringVar(&e.hpcTime, "hpc-time", "1h", "how long HPC jobs come")
}

func (e *experiment) mrFlags(c *cobra.Command, jobs int) {
	f := c.Flags()
	f.StringVar(&e.mrEvery, "mr-interarrival", "14s", "mean time between MapReduce jobs")
	f.IntVar(&e.mr.Jobs, "mr-jobs", jobs, "number of MapReduce jobs; 0: as many as come in --mr-time")
	f.StringVar(&e.mrTime, "mr-time", "1h", "how long MapReduce jobs come")
	f.IntVar(&e.mr.Users, "mr-users", 1, "users who submit MapReduce jobs, each of whom has one coordinator")
}

// take reads what the flags say; the adaptors that are compared.
func (e *experiment) take() ([]evaluate.Case, error) {
	p, err := batch.ParsePolicy(e.policy)
	if err != nil {
		return nil, configError("--policy", err.Error(), "")
	}
	e.settings.Policy = p
	if err := e.counts(); err != nil {
		return nil, err
	}
	if e.hpc.Types = workload.Types(e.types); e.types != "" && !slices.Contains(workload.AllTypes, e.hpc.Types) {
		return nil, configError("--hpc-types", fmt.Sprintf("%q is no kind of workload", e.types), fmt.Sprintf("use one of %v", workload.AllTypes))
	}
	for _, d := range []struct {
		flag, text string
		to         *time.Duration
	}{{"--hpc-time", e.hpcTime, &e.hpc.Length}, {"--mr-time", e.mrTime, &e.mr.Length}, {"--mr-interarrival", e.mrEvery, &e.mr.Every}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = positive(d.flag, d.text); err != nil {
			return nil, err
		}
	}
	if e.settings.Limits.Workers == 0 {
		e.settings.Limits.Workers = runtime.GOMAXPROCS(0)
	}
	e.settings.Run = sim.Run
	return evaluate.ParseCases("--adaptors", e.adaptors)
}

// mostNodes and mostJobs bound what a slip of the finger may ask for, as in scenarios.
const (
	mostNodes = 1_000_000
	mostJobs  = 10_000_000
)

// counts refuses numbers that there cannot be so many of.
func (e *experiment) counts() error {
	for _, n := range []struct {
		flag            string
		is, least, most int
	}{
		{"--nodes", e.settings.Nodes, 1, mostNodes}, {"--jobs", e.settings.Limits.Workers, 0, math.MaxInt32},
		{"--hpc-jobs", e.hpc.Jobs, 0, mostJobs}, {"--mr-jobs", e.mr.Jobs, 0, mostJobs}, {"--mr-users", e.mr.Users, 1, mostJobs},
	} {
		if n.is < n.least || n.is > n.most {
			return configError(n.flag, fmt.Sprintf("%d is not from %d to %d", n.is, n.least, n.most), "")
		}
	}
	if e.types != "" && !(e.hpc.Shape > 0 && e.hpc.Shape < 1e6) {
		return configError("--hpc-shape", fmt.Sprintf("%g is no positive number below a million", e.hpc.Shape), "")
	}
	return nil
}

// positive parses a duration above 0.
func positive(flag, text string) (time.Duration, error) {
	d, err := job.ParseDuration(flag, text)
	if err == nil && d <= 0 {
		err = configError(flag, fmt.Sprintf("%s is no time", text), "")
	}
	return d, err
}

// times parses a list by a parser of its parts.
func times(flag, list string, parse func(string, string) (time.Duration, error)) ([]time.Duration, error) {
	var ds []time.Duration
	for part := range strings.SplitSeq(list, ",") {
		d, err := parse(flag, part)
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	return ds, nil
}

func configError(where, what, do string) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what, Do: do}
}

// caseNames is the names of all adaptors, as a list on the command line.
func caseNames() string {
	var names []string
	for _, c := range evaluate.Cases() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ",")
}

// run runs the experiment and puts out what it found. Files are written last, when all
// that goes into them is there, and each at once.
func (e *experiment) run(cmd *cobra.Command, name string, run func(context.Context, evaluate.Settings) (*evaluate.Report, error)) error {
	if err := cmp.Or(writable(e.csv), writable(e.svg), writable(e.png), writableFolder(e.to)); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	meter := ui.NewMeter(os.Stderr, wantJSON(cmd), os.Getenv)
	e.settings.Tell = func(p evaluate.Progress) {
		meter.Set(p.Share(e.settings.Precision), p.String())
	}
	r, err := run(ctx, e.settings)
	meter.Close()
	if err != nil {
		return err
	}
	outputs, err := e.outputs(r, name)
	if err != nil {
		return err
	}
	left := leave(cmd.Context(), e.to, outputs) // what took long is told anyway
	if wantJSON(cmd) {
		return cmp.Or(ui.JSON(cmd.OutOrStdout(), r), left)
	}
	return cmp.Or(r.Text(cmd.OutOrStdout()), left)
}

// outputs are the files that were asked for.
func (e *experiment) outputs(r *evaluate.Report, name string) ([]output, error) {
	var files []output
	in := func(ext string) string { return filepath.Join(e.to, name+ext) }
	if e.csv != "" {
		files = append(files, output{e.csv, r.CSV})
	}
	if e.to != "" {
		files = append(files, output{in(".txt"), r.Text}, output{in(".json"), func(w io.Writer) error { return ui.JSON(w, r) }}, output{in(".csv"), r.CSV})
	}
	f := r.Figure()
	if f == nil || e.svg+e.png+e.to == "" {
		return files, nil
	}
	svg, err := f.SVG()
	if err != nil {
		return nil, err
	}
	png, err := f.PNG()
	if err != nil {
		return nil, err
	}
	if e.svg != "" {
		files = append(files, bytesTo(e.svg, svg))
	}
	if e.png != "" {
		files = append(files, bytesTo(e.png, png))
	}
	if e.to != "" {
		files = append(files, bytesTo(in(".svg"), svg), bytesTo(in(".png"), png))
	}
	return files, nil
}
