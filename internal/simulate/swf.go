package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/job"
	"berth/internal/sim/batch"
	"berth/internal/ui"
	"berth/internal/workload"
	"berth/internal/workload/swf"
)

// SWF is what berth simulate swf was asked for, as it was written.
type SWF struct {
	nodes                       int
	policy, estimates, odd, out string
	filter                      bool
}

// Register adds the flags to a command's.
func (f *SWF) Register(fs *pflag.FlagSet) {
	fs.IntVar(&f.nodes, "nodes", 0, "processors of the cluster (default what the log's header says)")
	fs.StringVar(&f.policy, "policy", string(batch.EASY), "how the batch system chooses: fcfs, easy, easy-sjbf or cbf")
	fs.StringVar(&f.estimates, "estimates", string(swf.User), "the wall times that it knows: user (as requested) or exact (as run)")
	fs.StringVar(&f.odd, "odd", "refuse", "what to do with odd lines: refuse or skip")
	fs.BoolVar(&f.filter, "filter", false, "leave out jobs without run time, allocation or requests within the cluster")
	fs.StringVar(&f.out, "out", "", "write the schedule to this file: .csv, .swf or .swf.gz")
}

// Run replays the log in a file, or on standard input for "-". It writes nothing before all
// is known to be right.
func (f *SWF) Run(ctx context.Context, c Console, path string) error {
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
		return job.ConfigError(log.Name, "its header does not say how many processors the cluster has", "say it with --nodes")
	}
	jobs, err := log.Rigid(o)
	if err = cmp.Or(err, log.None()); err != nil {
		return err
	}
	r := replay{nodes: o.Procs, policy: policy, estimates: o.Estimates, jobs: jobs, starts: batch.Replay(o.Procs, policy, jobs)}
	took := time.Since(begin)
	if err := leave(ctx, "", r.output(f.out, log)); err != nil {
		return err
	}
	s := r.measure()
	s.Skipped, s.Filtered, s.WallS = len(log.Skipped), log.Filtered, took.Seconds()
	if c.JSON {
		return ui.JSON(c.Out, s)
	}
	tellReplay(c.Err, log, s)
	return ui.Simulated(c.Out, s)
}

// parse returns what the flags say.
func (f *SWF) parse() (policy batch.Policy, o swf.Options, err error) {
	o = swf.Options{Procs: f.nodes, Filter: f.filter}
	if policy, err = batch.ParsePolicy(f.policy); err != nil {
		return "", o, job.ConfigError("--policy", err.Error(), "")
	}
	if o.Estimates, err = swf.ParseEstimates(f.estimates); err != nil {
		return "", o, job.ConfigError("--estimates", err.Error(), "")
	}
	if o.Odd, err = workload.ParseOnOdd(f.odd); err != nil {
		return "", o, job.ConfigError("--odd", err.Error(), "")
	}
	if f.nodes < 0 || f.nodes > math.MaxInt32 {
		return "", o, job.ConfigError("--nodes", fmt.Sprintf("there is no cluster of %d nodes", f.nodes), "")
	}
	if err := scheduleForm(f.out); err != nil {
		return "", o, err
	}
	return policy, o, writable(f.out)
}

// openLog reads the log in a file, or from standard input for "-".
func openLog(in io.Reader, path string, o swf.Options) (*swf.Log, error) {
	if path == "-" {
		return swf.Read(in, "standard input", o)
	}
	return swf.Open(path, o)
}

// toldLines is how many odd lines are told one by one; logs may have thousands, of a few kinds.
const toldLines = 20

// tellReplay says on standard error what the table does not.
func tellReplay(out io.Writer, log *swf.Log, s ui.Simulation) {
	if s.Filtered > 0 {
		_, _ = fmt.Fprintf(out, "the filter left out %d jobs\n", s.Filtered)
	}
	for i, odd := range log.Skipped {
		if i == toldLines {
			_, _ = fmt.Fprintf(out, "and so on: %d odd lines were left out\n", s.Skipped)
			break
		}
		_, _ = fmt.Fprintf(out, "left out: %s:%d: %s\n", log.Name, odd.Line, odd.Why)
	}
	_, _ = fmt.Fprintf(out, "%d jobs in %.3f s, %.0f jobs/s, reading included\n", s.Jobs, s.WallS, float64(s.Jobs)/s.WallS)
}
