package main

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/job"
	"berth/internal/sim/batch"
	"berth/internal/ui"
	"berth/internal/workload"
	"berth/internal/workload/swf"
)

const swfLong = `Replay a log of a cluster, in the Standard Workload Format (Parallel Workloads Archive;
plain or gzip, - is standard input), through a simulated batch system: when would each
job have begun under this policy? What the format calls a processor is a node here.

  fcfs       first come, first served: nobody overtakes
  easy       the first in the queue has a reservation, others fill the holes before it
  easy-sjbf  the same, the shortest fill first
  cbf        conservative backfilling: everyone has a reservation, none is ever delayed

A job needs the processors that it was allocated, or else requested, and is killed at the
time that it requested. With --estimates exact the batch system knows the run times.
Odd lines (a negative run time, more processors than there are, times out of order, …)
stop the command with the line's number; --odd skip leaves them out and tells which, the
first twenty of them one by one.
--filter leaves out what the literature leaves out: jobs without a run time, an
allocation or requests.

--out writes the schedule: to a file that ends with .csv as Batsim's jobs.csv, with .swf
or .swf.gz as the log itself with wait and run times as simulated. In jobs.csv, profile
is the number of the executable; nodes are counted and not told apart, so
allocated_resources is empty, and so is metadata; consumed_energy is -1, not reckoned.`

// swfFlags are what berth simulate swf was asked for, as it was written.
type swfFlags struct {
	nodes                       int
	policy, estimates, odd, out string
	filter                      bool
}

func newSimulateSWF() *cobra.Command {
	var f swfFlags
	c := &cobra.Command{
		Use: "swf FILE", Short: "Replay a log of a cluster under a policy of batch systems", Args: oneLog, Long: swfLong,
		Example: "  berth simulate swf SDSC-SP2-1998-4.2-cln.swf.gz --filter --policy easy\n" +
			"  berth simulate swf log.swf --nodes 128 --policy cbf --estimates exact --out waits.swf.gz\n" +
			"  berth simulate swf log.swf --odd skip --out jobs.csv --json",
		RunE: func(cmd *cobra.Command, args []string) error { return simulateSWF(cmd, args[0], f) },
	}
	c.Flags().IntVar(&f.nodes, "nodes", 0, "processors of the cluster (default what the log's header says)")
	c.Flags().StringVar(&f.policy, "policy", string(batch.EASY), "how the batch system chooses: fcfs, easy, easy-sjbf or cbf")
	c.Flags().StringVar(&f.estimates, "estimates", string(swf.User), "the wall times that it knows: user (as requested) or exact (as run)")
	c.Flags().StringVar(&f.odd, "odd", "refuse", "what to do with odd lines: refuse or skip")
	c.Flags().BoolVar(&f.filter, "filter", false, "leave out jobs without run time, allocation or requests within the cluster")
	c.Flags().StringVar(&f.out, "out", "", "write the schedule to this file: .csv, .swf or .swf.gz")
	return c
}

// simulateSWF writes nothing before all is known to be right.
func simulateSWF(cmd *cobra.Command, path string, f swfFlags) error {
	policy, o, err := f.parse()
	if err != nil {
		return err
	}
	begin := time.Now()
	log, err := openLog(cmd, path, o)
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
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: log.Name, What: "its header does not say how many processors the cluster has", Do: "say it with --nodes"}
	}
	jobs, err := log.Rigid(o)
	if err != nil {
		return err
	}
	if err := log.None(); err != nil {
		return err
	}
	r := replay{nodes: o.Procs, policy: policy, estimates: o.Estimates, jobs: jobs, starts: batch.Replay(o.Procs, policy, jobs)}
	took := time.Since(begin)
	if err := leave(cmd.Context(), "", r.output(f.out, log)); err != nil {
		return err
	}
	s := r.measure()
	s.Skipped, s.Filtered, s.WallS = len(log.Skipped), log.Filtered, took.Seconds()
	if wantJSON(cmd) {
		return ui.JSON(cmd.OutOrStdout(), s)
	}
	tellReplay(cmd, log, s)
	return ui.Simulated(cmd.OutOrStdout(), s)
}

// parse returns what the flags say.
func (f *swfFlags) parse() (policy batch.Policy, o swf.Options, err error) {
	o = swf.Options{Procs: f.nodes, Filter: f.filter}
	if policy, err = batch.ParsePolicy(f.policy); err != nil {
		return "", o, flagValue("policy", err)
	}
	if o.Estimates, err = swf.ParseEstimates(f.estimates); err != nil {
		return "", o, flagValue("estimates", err)
	}
	if o.Odd, err = workload.ParseOnOdd(f.odd); err != nil {
		return "", o, flagValue("odd", err)
	}
	if f.nodes < 0 || f.nodes > math.MaxInt32 {
		return "", o, flagValue("nodes", fmt.Errorf("there is no cluster of %d nodes", f.nodes))
	}
	if err := scheduleForm(f.out); err != nil {
		return "", o, err
	}
	return policy, o, writable(f.out)
}

// openLog reads the log in a file, or from standard input for "-".
func openLog(cmd *cobra.Command, path string, o swf.Options) (*swf.Log, error) {
	if path == "-" {
		return swf.Read(cmd.InOrStdin(), "standard input", o)
	}
	return swf.Open(path, o)
}

// toldLines is how many odd lines are told one by one; logs may have thousands, of a few kinds.
const toldLines = 20

// tellReplay says on standard error what the table does not.
func tellReplay(cmd *cobra.Command, log *swf.Log, s ui.Simulation) {
	out := cmd.ErrOrStderr()
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

func oneLog(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return argumentError(fmt.Sprintf("%s takes one log, but there are %d arguments", name(c), len(args)), "see "+c.CommandPath()+" --help")
	}
	return nil
}

// flagValue is the error that a flag's value cannot be taken.
func flagValue(flag string, err error) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--" + flag, What: err.Error()}
}
