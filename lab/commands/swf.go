package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/show/ui"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/swf"
	"berth/lab/replay"
)

// SWF are the options of berth-lab swf.
type SWF struct {
	nodes                       int
	policy, estimates, odd, out string
	filter                      bool
}

// Register adds the flags to a command's.
func (f *SWF) Register(fs *pflag.FlagSet) {
	fs.IntVar(&f.nodes, "nodes", 0, "processors of the cluster (default: as in the log's header)")
	fs.StringVar(&f.policy, "policy", string(batch.EASY), "policy of the batch system: fcfs, easy, easy-sjbf or cbf")
	fs.StringVar(&f.estimates, "estimates", string(swf.User), "wall times that jobs request: user (as in the log) or exact (the run times)")
	fs.StringVar(&f.odd, "odd", "refuse", "what to do with odd lines: refuse or skip")
	fs.BoolVar(&f.filter, "filter", false, "leave out jobs without run time, allocation or requests within the cluster")
	fs.StringVar(&f.out, "out", "", "write the schedule to this file: .csv, .swf or .swf.gz")
}

// Run replays the log of a file, or of standard input for "-". It writes nothing before all input
// has been checked.
func (f *SWF) Run(ctx context.Context, c simulation.Console, path string) error {
	policy, o, err := f.parse()
	if err != nil {
		return err
	}
	begin := time.Now()
	log, err := openLog(c.In, path, o)
	if err != nil {
		return err
	}
	if err := log.None(); err != nil {
		return err
	}
	if o.Procs == 0 {
		o.Procs = log.Header.Procs()
	}
	if o.Procs == 0 {
		return job.ConfigError(log.Name, "its header does not give the number of processors of the cluster", "give it with --nodes")
	}
	jobs, err := log.Rigid(o)
	if err = cmp.Or(err, log.None()); err != nil {
		return err
	}
	r := schedule{nodes: o.Procs, policy: policy, estimates: o.Estimates, jobs: jobs, starts: replay.Run(o.Procs, policy, jobs)}
	took := time.Since(begin)
	if err := simulation.Leave(ctx, "", r.output(f.out, log)); err != nil {
		return err
	}
	s := r.measure()
	s.Skipped, s.Filtered, s.WallS = len(log.Skipped), log.Filtered, took.Seconds()
	if c.JSON {
		return ui.JSON(c.Out, s)
	}
	reportReplay(c.Err, log, s)
	return Simulated(c.Out, s)
}

// parse parses the flags.
func (f *SWF) parse() (policy batch.Policy, o swf.Options, err error) {
	o = swf.Options{Procs: f.nodes, Filter: f.filter}
	if policy, err = parsePolicy(f.policy); err != nil {
		return "", o, job.ConfigError("--policy", err.Error(), "")
	}
	if o.Estimates, err = parseEstimates(f.estimates); err != nil {
		return "", o, job.ConfigError("--estimates", err.Error(), "")
	}
	if o.Odd, err = parseOnOdd(f.odd); err != nil {
		return "", o, job.ConfigError("--odd", err.Error(), "")
	}
	if f.nodes < 0 || f.nodes > math.MaxInt32 {
		return "", o, job.ConfigError("--nodes", fmt.Sprintf("a cluster cannot have %d nodes", f.nodes), "give at least 1")
	}
	if err := scheduleForm(f.out); err != nil {
		return "", o, err
	}
	return policy, o, simulation.Writable(f.out)
}

// openLog reads the log of a file, or of standard input for "-".
func openLog(in io.Reader, path string, o swf.Options) (*swf.Log, error) {
	if path == "-" {
		return swf.Read(in, "standard input", o)
	}
	return swf.Open(path, o)
}

// listedLines is the number of odd lines that are listed one by one. Logs may have thousands of a
// few kinds.
const listedLines = 20

// reportReplay prints remarks on standard error that the table does not contain.
func reportReplay(out io.Writer, log *swf.Log, s Simulation) {
	if s.Filtered > 0 {
		_, _ = fmt.Fprintf(out, "the filter left out %d jobs\n", s.Filtered)
	}
	for i, odd := range log.Skipped {
		if i == listedLines {
			_, _ = fmt.Fprintf(out, "and so on: %d odd lines were left out\n", s.Skipped)
			break
		}
		_, _ = fmt.Fprintf(out, "left out: %s:%d: %s\n", log.Name, odd.Line, odd.Why)
	}
	_, _ = fmt.Fprintf(out, "%d jobs in %.3f s, %.0f jobs/s, reading included\n", s.Jobs, s.WallS, float64(s.Jobs)/s.WallS)
}

// parseEstimates parses a word of the command line.
func parseEstimates(word string) (swf.Estimates, error) {
	switch e := swf.Estimates(word); e {
	case swf.User, swf.Exact:
		return e, nil
	}
	return "", fmt.Errorf("there are no estimates %q: use user or exact", word)
}

// parseOnOdd parses a word of the command line.
func parseOnOdd(word string) (workload.OnOdd, error) {
	switch word {
	case "refuse":
		return workload.Refuse, nil
	case "skip":
		return workload.Skip, nil
	}
	return 0, fmt.Errorf("%q is not a way to handle odd lines: use refuse or skip", word)
}

// parsePolicy returns the policy with the given name, or an error that lists the names.
func parsePolicy(name string) (batch.Policy, error) {
	var names []string
	for _, p := range batch.Policies {
		if string(p) == name {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("there is no policy %q: use one of %s", name, strings.Join(names, ", "))
}
