package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/scenario"
	"berth/internal/ui"
	"berth/internal/workload/sacct"
)

const runLong = `Simulate a cluster and jobs of one's own: what does each way to bring MapReduce jobs and
bags of tasks there come to, for them and for everybody else? Ways are naive (as many
nodes as tasks, the longest time), paper (Algorithm 1 of "Scheduling MapReduce Jobs in HPC
Clusters"), berth (each job alone), shared (all of a user's jobs on the same allocations,
the shortest first) and yield (the same, and each allocation is given back with the job
that it was asked for), unless the scenario names others. The first line has the jobs of
others alone. All keys of scenarios are in docs/simulate.md.

What would berth have done for me? Jobs of others can be those of one's own cluster, from
--from-swf or from what Slurm's accounting prints:

  ` + sacct.Command + `

and a job of one's own is told by flags; --spread of them come evenly over that time. The
log is taken as it is: its jobs do not react to what the others do.

--out writes every job of every simulation to a file that ends with .csv, or else a
folder with run.txt, run.json, ways.csv and jobs.csv.`

// runFlags are what berth simulate run was asked for: flags that say what keys of a
// scenario say, by key, and the rest.
type runFlags struct {
	swf, sacct, out string
	workers         int
	top, rigid, own []keyFlag
}

// keyFlag is a flag that stands for a key of a scenario.
type keyFlag struct {
	flag, key string
	text      string
	number    int64
	isNumber  bool
	yes       bool
	isBool    bool
}

func newSimulateRun() *cobra.Command {
	f := &runFlags{
		top: []keyFlag{
			{flag: "nodes", key: "cluster.nodes", isNumber: true}, {flag: "cores", key: "cluster.cores", isNumber: true},
			{flag: "policy", key: "cluster.policy"}, {flag: "max-time", key: "cluster.max_time"},
			{flag: "seed", key: "seed", isNumber: true}, {flag: "replications", key: "replications", isNumber: true},
		},
		rigid: []keyFlag{
			{flag: "odd", key: "odd"}, {flag: "filter", key: "filter", isBool: true}, {flag: "estimates", key: "estimates"},
			{flag: "from", key: "from"}, {flag: "for", key: "for"},
		},
		own: []keyFlag{
			{flag: "maps", key: "maps", isNumber: true}, {flag: "map-time", key: "map_time"},
			{flag: "reduces", key: "reduces", isNumber: true}, {flag: "reduce-time", key: "reduce_time"},
			{flag: "shuffle-time", key: "shuffle_time"}, {flag: "submit", key: "submit"},
			{flag: "repeat", key: "repeat", isNumber: true}, {flag: "every", key: "every"},
			{flag: "spread", key: "spread", isNumber: true},
		},
	}
	c := &cobra.Command{
		Use: "run [SCENARIO.toml]", Short: "Simulate one's own cluster and jobs, under each way to run them", Args: atMostOneScenario, Long: runLong,
		Example: "  berth simulate run examples/simulate/peak-hour.toml\n" +
			"  sacct … | berth simulate run --from-sacct - --nodes 64 --maps 500 --map-time 60s±20s\n" +
			"  berth simulate run --from-swf log.swf.gz --filter --from 30d --for 7d --maps 500 --map-time 60s --reduces 20 --reduce-time 2m",
		RunE: func(cmd *cobra.Command, args []string) error { return simulateRun(cmd, args, f) },
	}
	f.add(c)
	return c
}

func (f *runFlags) add(c *cobra.Command) {
	usage := map[string]string{
		"nodes": "nodes of the cluster (default what the scenario or the log's header says)", "cores": "cores of a node: tasks that run there at once",
		"policy":   "how the batch system chooses: fcfs, easy, easy-sjbf or cbf (default cbf)",
		"max-time": "longest wall time that the queue takes (default the longest in the log)",
		"seed":     "seed that all random numbers come from (default 1)", "replications": "simulate this often, with other random numbers",
		"odd": "with --from-…: what to do with odd lines of the log: refuse or skip", "filter": "with --from-swf: leave out jobs without run time, allocation or requests",
		"estimates": "with --from-…: wall times that jobs of others ask for: user, exact or model", "from": "with --from-…: begin this long after the log's first job",
		"for": "with --from-…: take so much of the log", "maps": "a job of one's own: number of maps, or tasks of a bag",
		"map-time": "how long a map takes, as 60s or 60s±20s (or 60s+-20s)", "reduces": "number of reduces", "reduce-time": "how long a reduce takes",
		"shuffle-time": "how long a shuffle takes", "submit": "when the job comes, after the beginning", "repeat": "number of such jobs",
		"every": "time between them", "spread": "with --from-…: number of such jobs, evenly over the log's time (default 10, without --submit)",
	}
	flags := c.Flags()
	flags.StringVar(&f.swf, "from-swf", "", "take jobs of others from this log in the Standard Workload Format")
	flags.StringVar(&f.sacct, "from-sacct", "", "take jobs of others from what sacct printed into this file; - is standard input")
	for _, list := range [][]keyFlag{f.top, f.rigid, f.own} {
		for i := range list {
			k := &list[i]
			switch {
			case k.isNumber:
				flags.Int64Var(&k.number, k.flag, 0, usage[k.flag])
			case k.isBool:
				flags.BoolVar(&k.yes, k.flag, false, usage[k.flag])
			default:
				flags.StringVar(&k.text, k.flag, "", usage[k.flag])
			}
		}
	}
	flags.IntVar(&f.workers, "jobs", 0, "simulations at once (default: one a processor)")
	flags.StringVar(&f.out, "out", "", "write jobs to this file (.csv), or everything to this folder")
}

func (k *keyFlag) value() any {
	switch {
	case k.isNumber:
		return k.number
	case k.isBool:
		return k.yes
	}
	return k.text
}

// simulateRun writes nothing before all is known to be right.
func simulateRun(cmd *cobra.Command, args []string, f *runFlags) error {
	doc, err := f.document(cmd, args)
	if err != nil {
		return err
	}
	s, err := doc.Scenario(cmd.InOrStdin())
	if err != nil {
		return err
	}
	if folder := runFolder(f.out); folder != "" {
		err = writableFolder(folder)
	} else {
		err = writable(f.out)
	}
	if err != nil {
		return err
	}
	for _, note := range s.Notes {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	workers := f.workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	meter := ui.NewMeter(os.Stderr, wantJSON(cmd), os.Getenv)
	r, err := s.Run(ctx, workers, func(p scenario.Progress) {
		meter.Set(float64(p.Done)/float64(p.All), fmt.Sprintf("%d of %d simulations", p.Done, p.All))
	})
	meter.Close()
	if err != nil {
		return err
	}
	folder, outputs := runOutputs(f.out, r)
	left := leave(cmd.Context(), folder, outputs) // what was simulated is told anyway
	if wantJSON(cmd) {
		return cmp.Or(ui.JSON(cmd.OutOrStdout(), r), left)
	}
	return cmp.Or(r.Text(cmd.OutOrStdout()), left)
}

// document returns the scenario with what flags say on top.
func (f *runFlags) document(cmd *cobra.Command, args []string) (*scenario.Document, error) {
	doc := scenario.NewDocument()
	if len(args) > 0 {
		var err error
		if doc, err = scenario.OpenDocument(args[0]); err != nil {
			return nil, err
		}
	} else if f.swf+f.sacct == "" {
		return nil, argumentError(name(cmd)+" needs a scenario, or a log from --from-swf or --from-sacct", "see "+cmd.CommandPath()+" --help")
	}
	changed := cmd.Flags().Changed
	for _, k := range f.top {
		if changed(k.flag) {
			doc.Set(k.key, k.value(), "--"+k.flag)
		}
	}
	if err := f.log(doc, changed); err != nil {
		return nil, err
	}
	return doc, f.job(doc, changed, len(args) > 0)
}

// log adds the jobs of others of a log.
func (f *runFlags) log(doc *scenario.Document, changed func(string) bool) error {
	values, from := map[string]any{}, map[string]string{}
	for _, k := range f.rigid {
		if changed(k.flag) {
			values[k.key], from[k.key] = k.value(), "--"+k.flag
		}
	}
	switch {
	case f.swf != "" && f.sacct != "":
		return argumentError("both --from-swf and --from-sacct are given", "give one of them")
	case f.swf != "":
		values["swf"], from[""] = f.swf, "--from-swf"
	case f.sacct != "":
		values["sacct"], from[""] = f.sacct, "--from-sacct"
	case len(values) > 0:
		return argumentError(first(f.rigid, changed)+" is about a log, but none is given", "give --from-swf or --from-sacct")
	default:
		return nil
	}
	doc.Append("rigid", values, from)
	return nil
}

// job adds the job of one's own that flags tell.
func (f *runFlags) job(doc *scenario.Document, changed func(string) bool, scenario bool) error {
	values, from := map[string]any{}, map[string]string{"": "--maps"}
	for _, k := range f.own {
		if changed(k.flag) {
			values[k.key], from[k.key] = k.value(), "--"+k.flag
		}
	}
	switch {
	case len(values) > 0 && !changed("maps"):
		return argumentError(first(f.own, changed)+" is about a job of your own, but there is none", "give --maps and --map-time")
	case len(values) == 0 && !scenario:
		return argumentError("there is no job of your own", "give --maps and --map-time, or a scenario")
	case len(values) == 0:
		return nil
	}
	if f.swf+f.sacct != "" && !changed("submit") && !changed("repeat") && !changed("every") && !changed("spread") {
		values["spread"] = int64(10)
	}
	doc.Append("elastic", values, from)
	return nil
}

// first returns the first of the flags that was given.
func first(flags []keyFlag, changed func(string) bool) string {
	for _, k := range flags {
		if changed(k.flag) {
			return "--" + k.flag
		}
	}
	return ""
}

func atMostOneScenario(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return argumentError(fmt.Sprintf("%s takes one scenario, but there are %d arguments", name(c), len(args)), "see "+c.CommandPath()+" --help")
	}
	return nil
}

// runOutputs are what was asked for: jobs in a file, or everything in a folder.
func runOutputs(path string, r *scenario.Report) (folder string, _ []output) {
	if folder = runFolder(path); folder == "" {
		if path == "" {
			return "", nil
		}
		return "", []output{{path, r.JobsCSV}}
	}
	in := func(name string) string { return filepath.Join(path, name) }
	return folder, []output{
		{in("run.txt"), r.Text}, {in("run.json"), func(w io.Writer) error { return ui.JSON(w, r) }},
		{in("ways.csv"), r.WaysCSV}, {in("jobs.csv"), r.JobsCSV},
	}
}

// runFolder returns path where it is that of a folder.
func runFolder(path string) string {
	if strings.HasSuffix(path, ".csv") {
		return ""
	}
	return path
}
