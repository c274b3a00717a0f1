package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
	"berth/internal/workload"
	"berth/internal/workload/swf"
)

func newSimulateTable3() *cobra.Command {
	e := &experiment{}
	var day, estimates string
	c := &cobra.Command{
		Use: "table3 TRACE", Short: "The adaptor beside naive requests, with HPC jobs of a log", Args: oneTrace,
		Long: `Simulate the paper's table 3: the HPC jobs of one day of a log in the Standard Workload
Format (SDSC SP2 in the paper), 1,000 MapReduce jobs, and both. The paper does not say
which day: auto is the one on which the HPC jobs alone come nearest to the turnaround and
utilization that it reports.`,
		Example: "  berth simulate table3 SDSC-SP2-1998-4.2-cln.swf.gz\n  berth simulate table3 log.swf --nodes 256 --day 17",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := e.table()
			if err != nil {
				return err
			}
			if t.HPC.Trace, t.HPC.Name, err = e.trace(args[0], day, estimates); err != nil {
				return err
			}
			return e.run(cmd, "table3", func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Table3(ctx, t) })
		},
	}
	e.flags(c, "naive,paper,several,yield")
	e.limit(c, sweepTimes)
	e.mrFlags(c, 1000)
	c.Flags().StringVar(&day, "day", "auto", "day of the log, from 1 and counted from its first job; or auto")
	c.Flags().StringVar(&estimates, "estimates", string(swf.User), "wall times that HPC jobs ask for: user or exact")
	return c
}

func oneTrace(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return argumentError(fmt.Sprintf("%s takes one log, but there are %d arguments", name(c), len(args)), "see "+c.CommandPath()+" --help")
	}
	return nil
}

// trace reads the jobs of a day of a log, and what they are called.
func (e *experiment) trace(path, day, estimates string) ([]workload.Rigid, string, error) {
	kind, err := swf.ParseEstimates(estimates)
	if err != nil {
		return nil, "", configError("--estimates", err.Error(), "")
	}
	o := swf.Options{Procs: e.settings.Nodes, Estimates: kind, Filter: true}
	log, err := swf.Open(path, o)
	if err != nil {
		return nil, "", err
	}
	jobs, err := log.Rigid(o)
	if err = cmp.Or(err, log.None()); err != nil {
		return nil, "", err
	}
	n := 0
	if day == "auto" {
		n = evaluate.NearestDay(e.settings.Nodes, e.settings.Policy, jobs)
	} else if n, err = strconv.Atoi(day); err != nil || n < 1 {
		err = configError("--day", fmt.Sprintf("%q is no day", day), "write a number from 1, or auto")
	}
	if err != nil {
		return nil, "", err
	}
	trace := evaluate.Day(jobs, n)
	if len(trace) == 0 {
		return nil, "", configError("--day", fmt.Sprintf("%s has no jobs on day %d", path, n), "")
	}
	return trace, fmt.Sprintf("of day %d of %s", n, filepath.Base(path)), nil
}
