package simulation

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/show/ui"
	"berth/internal/simulate/scenario"
)

// Scenario are the options of berth simulate run.
type Scenario struct {
	flags           *pflag.FlagSet
	swf, sacct, out string
	workers         int
}

// keyFlag is a flag for the key of the same name in a scenario, with underscores for hyphens.
type keyFlag struct{ name, kind, usage string }

// The flags by what they are about: name, kind of value and meaning.
const (
	seedFlags = `seed int seed of all random numbers (default 1)
replications int number of simulations, each with other random numbers`
	clusterFlags = `nodes int nodes of the cluster (default: as in the scenario or the log's header)
cores int cores of a node, which is the number of tasks that it runs at once
policy text policy of the batch system: fcfs, easy, easy-sjbf or cbf (default cbf)
max-time text longest wall time that the queue accepts (default: the longest in the log)`
	logFlags = `odd text with --from-…: what to do with odd lines of the log: refuse or skip
filter bool with --from-swf: leave out jobs without run time, allocation or requests
estimates text with --from-…: wall times that the jobs of the log request: user, exact or model
from text with --from-…: begin this long after the log's first job
for text with --from-…: length of the part of the log that is used`
	ownFlags = `maps int an elastic job: number of maps, or of tasks of a bag
map-time text duration of a map, as 60s or 60s±20s (or 60s+-20s)
reduces int number of reduces
reduce-time text duration of a reduce
shuffle-time text duration of a shuffle`
	arrivalFlags = `submit text submission time of the job, from the beginning
repeat int number of such jobs
every text time between them
spread int with --from-…: number of such jobs, evenly over the log's time (default 10, without --submit)`
)

func keyFlags(list string) (all []keyFlag) {
	for row := range strings.SplitSeq(list, "\n") {
		words := strings.SplitN(row, " ", 3)
		all = append(all, keyFlag{words[0], words[1], words[2]})
	}
	return all
}

// Register adds the flags to a command's.
func (f *Scenario) Register(fs *pflag.FlagSet) {
	f.flags = fs
	fs.StringVar(&f.swf, "from-swf", "", "read the rigid jobs from this log in the Standard Workload Format")
	fs.StringVar(&f.sacct, "from-sacct", "", "read the rigid jobs from the output of sacct in this file; - is standard input")
	for _, k := range keyFlags(strings.Join([]string{seedFlags, clusterFlags, logFlags, ownFlags, arrivalFlags}, "\n")) {
		switch k.kind {
		case "int":
			fs.Int64(k.name, 0, k.usage)
		case "bool":
			fs.Bool(k.name, false, k.usage)
		default:
			fs.String(k.name, "", k.usage)
		}
	}
	fs.IntVar(&f.workers, "jobs", 0, "simultaneous simulations (default: one for each processor)")
	fs.StringVar(&f.out, "out", "", "write jobs to this file (.csv), or everything to this folder")
}

// each calls use for each flag of the list that was given, in order.
func (f *Scenario) each(list string, use func(key string, value any, flag string)) {
	for _, k := range keyFlags(list) {
		if !f.flags.Changed(k.name) {
			continue
		}
		var value any
		switch k.kind {
		case "int":
			value, _ = f.flags.GetInt64(k.name)
		case "bool":
			value, _ = f.flags.GetBool(k.name)
		default:
			value, _ = f.flags.GetString(k.name)
		}
		use(strings.ReplaceAll(k.name, "-", "_"), value, "--"+k.name)
	}
}

// given returns the values and the names of the given flags of the list, by their keys, and the name
// of the first, or "".
func (f *Scenario) given(list string) (values map[string]any, flags map[string]string, first string) {
	values, flags = map[string]any{}, map[string]string{}
	f.each(list, func(key string, value any, flag string) {
		values[key], flags[key], first = value, flag, cmp.Or(first, flag)
	})
	return values, flags, first
}

// Run simulates the scenario of a file, if one is named, with its keys overridden by flags. It
// writes nothing before all input has been checked.
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
	if err := cmp.Or(Writable(path), WritableFolder(folder)); err != nil {
		return err
	}
	for _, note := range s.Notes {
		_ = ui.Say(c.Err, "%s", note)
	}
	if f.workers < 1 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	var r *scenario.Report
	err = c.Simulate(ctx, func(ctx context.Context, meter *ui.Meter) error {
		r, err = s.Run(ctx, f.workers, func(p scenario.Progress) {
			meter.Set(float64(p.Done)/float64(p.All), fmt.Sprintf("%d of %d simulations", p.Done, p.All))
		})
		return err
	})
	if err != nil {
		return err
	}
	return c.Print(ctx, r, folder, scenarioFiles(path, folder, r))
}

// scenarioFiles returns the requested files: the jobs in one file, or everything in a folder.
func scenarioFiles(path, folder string, r *scenario.Report) []Output {
	switch {
	case path != "":
		return []Output{{path, r.JobsCSV}}
	case folder != "":
		return append(ReportFiles(filepath.Join(folder, "run"), r),
			Output{filepath.Join(folder, "ways.csv"), r.WaysCSV}, Output{filepath.Join(folder, "jobs.csv"), r.JobsCSV})
	}
	return nil
}

// document returns the scenario with its keys overridden by flags.
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

// log adds the rigid jobs of a log.
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
		return job.ArgumentError("", first+" needs a log, but none is given", "give --from-swf or --from-sacct")
	default:
		return nil
	}
	doc.Append("rigid", values, flags)
	return nil
}

// job adds the elastic job that flags describe.
func (f *Scenario) job(doc *scenario.Document, scenario bool) error {
	values, flags, first := f.given(ownFlags + "\n" + arrivalFlags)
	switch {
	case len(values) > 0 && !f.flags.Changed("maps"):
		return job.ArgumentError("", first+" needs an elastic job, but none is given", "give --maps and --map-time")
	case len(values) == 0 && !scenario:
		return job.ArgumentError("", "there is no elastic job", "give --maps and --map-time, or a scenario")
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
