package simulate

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/job"
	"berth/internal/scenario"
	"berth/internal/ui"
)

// Scenario is what berth simulate run was asked for.
type Scenario struct {
	flags           *pflag.FlagSet
	swf, sacct, out string
	workers         int
}

// keyFlag is a flag that stands for the key of a scenario of the same name, with underscores
// for hyphens.
type keyFlag struct {
	name  string
	zero  any // of the type of its values: an int64, a string or a bool
	usage string
}

var (
	seedFlags = []keyFlag{
		{"seed", int64(0), "seed that all random numbers come from (default 1)"},
		{"replications", int64(0), "simulate this often, with other random numbers"},
	}
	clusterFlags = []keyFlag{
		{"nodes", int64(0), "nodes of the cluster (default what the scenario or the log's header says)"},
		{"cores", int64(0), "cores of a node: tasks that run there at once"},
		{"policy", "", "how the batch system chooses: fcfs, easy, easy-sjbf or cbf (default cbf)"},
		{"max-time", "", "longest wall time that the queue takes (default the longest in the log)"},
	}
	logFlags = []keyFlag{
		{"odd", "", "with --from-…: what to do with odd lines of the log: refuse or skip"},
		{"filter", false, "with --from-swf: leave out jobs without run time, allocation or requests"},
		{"estimates", "", "with --from-…: wall times that jobs of others ask for: user, exact or model"},
		{"from", "", "with --from-…: begin this long after the log's first job"},
		{"for", "", "with --from-…: take so much of the log"},
	}
	ownFlags = []keyFlag{
		{"maps", int64(0), "a job of one's own: number of maps, or tasks of a bag"},
		{"map-time", "", "how long a map takes, as 60s or 60s±20s (or 60s+-20s)"},
		{"reduces", int64(0), "number of reduces"},
		{"reduce-time", "", "how long a reduce takes"},
		{"shuffle-time", "", "how long a shuffle takes"},
	}
	arrivalFlags = []keyFlag{
		{"submit", "", "when the job comes, after the beginning"},
		{"repeat", int64(0), "number of such jobs"},
		{"every", "", "time between them"},
		{"spread", int64(0), "with --from-…: number of such jobs, evenly over the log's time (default 10, without --submit)"},
	}
)

// Register adds the flags to a command's.
func (f *Scenario) Register(fs *pflag.FlagSet) {
	f.flags = fs
	fs.StringVar(&f.swf, "from-swf", "", "take jobs of others from this log in the Standard Workload Format")
	fs.StringVar(&f.sacct, "from-sacct", "", "take jobs of others from what sacct printed into this file; - is standard input")
	for _, list := range [][]keyFlag{seedFlags, clusterFlags, logFlags, ownFlags, arrivalFlags} {
		for _, k := range list {
			switch k.zero.(type) {
			case int64:
				fs.Int64(k.name, 0, k.usage)
			case bool:
				fs.Bool(k.name, false, k.usage)
			default:
				fs.String(k.name, "", k.usage)
			}
		}
	}
	fs.IntVar(&f.workers, "jobs", 0, "simulations at once (default: one a processor)")
	fs.StringVar(&f.out, "out", "", "write jobs to this file (.csv), or everything to this folder")
}

// each calls use for those of the flags that were given, in the order of the list.
func (f *Scenario) each(list []keyFlag, use func(key string, value any, flag string)) {
	for _, k := range list {
		if !f.flags.Changed(k.name) {
			continue
		}
		var value any
		switch k.zero.(type) {
		case int64:
			value, _ = f.flags.GetInt64(k.name)
		case bool:
			value, _ = f.flags.GetBool(k.name)
		default:
			value, _ = f.flags.GetString(k.name)
		}
		use(strings.ReplaceAll(k.name, "-", "_"), value, "--"+k.name)
	}
}

// given returns the values of those of the flags that were given and what they are called,
// both by the keys that they stand for; first is the first of them, "" without any.
func (f *Scenario) given(list []keyFlag) (values map[string]any, flags map[string]string, first string) {
	values, flags = map[string]any{}, map[string]string{}
	f.each(list, func(key string, value any, flag string) {
		values[key], flags[key], first = value, flag, cmp.Or(first, flag)
	})
	return values, flags, first
}

// Run simulates the scenario in a file, if one is named, with what the flags say in place of
// what is there. It writes nothing before all is known to be right.
func (f *Scenario) Run(ctx context.Context, c Console, files []string) error {
	doc, err := f.document(files)
	if err != nil {
		return err
	}
	s, err := doc.Scenario(c.In)
	if err != nil {
		return err
	}
	path, folder := f.out, ""
	if !strings.HasSuffix(path, ".csv") {
		path, folder = "", path
	}
	if err := cmp.Or(writable(path), writableFolder(folder)); err != nil {
		return err
	}
	for _, note := range s.Notes {
		_, _ = fmt.Fprintln(c.Err, note)
	}
	if f.workers < 1 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	var r *scenario.Report
	err = c.simulate(ctx, func(ctx context.Context, meter *ui.Meter) error {
		r, err = s.Run(ctx, f.workers, func(p scenario.Progress) {
			meter.Set(float64(p.Done)/float64(p.All), fmt.Sprintf("%d of %d simulations", p.Done, p.All))
		})
		return err
	})
	if err != nil {
		return err
	}
	return c.print(ctx, r, folder, scenarioFiles(path, folder, r))
}

// scenarioFiles are the files that were asked for: jobs in a file, everything in a folder.
func scenarioFiles(path, folder string, r *scenario.Report) []output {
	switch {
	case path != "":
		return []output{{path, r.JobsCSV}}
	case folder != "":
		return append(reportFiles(filepath.Join(folder, "run"), r),
			output{filepath.Join(folder, "ways.csv"), r.WaysCSV}, output{filepath.Join(folder, "jobs.csv"), r.JobsCSV})
	}
	return nil
}

// document returns the scenario with what flags say in place of what is there.
func (f *Scenario) document(files []string) (*scenario.Document, error) {
	doc := scenario.NewDocument()
	if len(files) > 0 {
		var err error
		if doc, err = scenario.OpenDocument(files[0]); err != nil {
			return nil, err
		}
	} else if f.swf+f.sacct == "" {
		return nil, job.ArgumentError("", "simulate run needs a scenario, or a log from --from-swf or --from-sacct", "see berth simulate run --help")
	}
	f.each(seedFlags, doc.Set)
	f.each(clusterFlags, func(key string, value any, flag string) { doc.Set("cluster."+key, value, flag) })
	if err := f.log(doc); err != nil {
		return nil, err
	}
	return doc, f.job(doc, len(files) > 0)
}

// log adds the jobs of others of a log.
func (f *Scenario) log(doc *scenario.Document) error {
	values, flags, first := f.given(logFlags)
	switch {
	case f.swf != "" && f.sacct != "":
		return job.ArgumentError("", "both --from-swf and --from-sacct are given", "give one of them")
	case f.swf != "":
		values["swf"], flags[""] = f.swf, "--from-swf"
	case f.sacct != "":
		values["sacct"], flags[""] = f.sacct, "--from-sacct"
	case len(values) > 0:
		return job.ArgumentError("", first+" is about a log, but none is given", "give --from-swf or --from-sacct")
	default:
		return nil
	}
	doc.Append("rigid", values, flags)
	return nil
}

// job adds the job of one's own that flags tell.
func (f *Scenario) job(doc *scenario.Document, scenario bool) error {
	values, flags, first := f.given(slices.Concat(ownFlags, arrivalFlags))
	switch {
	case len(values) > 0 && !f.flags.Changed("maps"):
		return job.ArgumentError("", first+" is about a job of your own, but there is none", "give --maps and --map-time")
	case len(values) == 0 && !scenario:
		return job.ArgumentError("", "there is no job of your own", "give --maps and --map-time, or a scenario")
	case len(values) == 0:
		return nil
	}
	if _, _, arrival := f.given(arrivalFlags); arrival == "" && f.swf+f.sacct != "" {
		values["spread"] = int64(10)
	}
	flags[""] = "--maps"
	doc.Append("elastic", values, flags)
	return nil
}
