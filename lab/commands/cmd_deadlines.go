package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"berth/internal/command"
	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/show/ui"
	"berth/internal/simulate/workload/swim"
	"berth/lab/evaluate"
)

const deadlinesLong = `Simulate jobs of the Facebook mix, or of a sample of SWIM, that share a cluster and have a
deadline each: a random multiple of their time alone on the cluster. Orders of jobs are
compared: berth's, by slack, in which a job that certainly misses its deadline no longer
goes before others; the same without that (slack); the earliest deadline first (EDF);
FIFO; and fair share. All orders have the same jobs. The output has the share of jobs,
and of their work, that meet their deadlines, and how late jobs are on average.`

func newDeadlines() *cobra.Command {
	s := evaluate.DeadlineStudy{Name: "the Facebook mix"}
	var loads, trace, out string
	c := &cobra.Command{
		Use: "deadlines", Short: "Share of deadlines met under orders of jobs", Args: command.NoArguments, Long: deadlinesLong,
		Example: "  berth-lab deadlines\n  berth-lab deadlines --loads 0.6 --jobs-each 100 --replications 5",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.Loads, err = list("--loads", loads, notNegative); err != nil {
				return err
			}
			for _, l := range s.Loads {
				if l < 0.01 {
					return job.ConfigError("--loads", fmt.Sprintf("%g is not a load", l), "write loads from 0.01, as in 0.6,0.9")
				}
			}
			if s.Jobs < 2 || s.Replications < 1 || s.Nodes < 1 || s.Spread < 1 {
				return job.ConfigError("--jobs", "jobs, replications, nodes or the spread are too few", "")
			}
			if trace != "" {
				if s.Trace, err = swim.Open(trace, swim.Options{Seed: s.Seed}); err != nil {
					return err
				}
				s.Name = filepath.Base(trace)
				if len(s.Trace) < 2 {
					return job.ConfigError("--trace", "it has no jobs", "")
				}
			}
			if s.Workers == 0 {
				s.Workers = runtime.GOMAXPROCS(0)
			}
			console := command.Console(cmd)
			var r *evaluate.DeadlineReport
			err = console.Simulate(cmd.Context(), func(ctx context.Context, meter *ui.Meter) (err error) {
				s.Tell = func(done, all int) { meter.Set(float64(done)/float64(all), fmt.Sprintf("%d of %d runs", done, all)) }
				r, err = s.Run(ctx)
				return err
			})
			if err != nil {
				return err
			}
			var files []simulation.Output
			if out != "" {
				files = simulation.ReportFiles(filepath.Join(out, "deadlines"), r)
			}
			return console.Print(cmd.Context(), r, out, files)
		},
	}
	f := c.Flags()
	f.StringVar(&loads, "loads", "0.6,0.9,1.2", "work that arrives as a fraction of what the cluster can do, with commas")
	f.StringVar(&trace, "trace", "", "sample of SWIM in place of the mix; each replication has other jobs of it, its times between jobs stretched to the load")
	f.IntVar(&s.Jobs, "jobs-each", 300, "number of jobs of a replication")
	f.IntVar(&s.Replications, "replications", 10, "number of replications, each with other jobs")
	f.IntVar(&s.Nodes, "nodes", 128, "number of nodes, with a core each")
	f.Float64Var(&s.Spread, "spread", 3, "largest multiple of a job's time alone that is its deadline; the smallest is 1")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of all random numbers")
	f.IntVar(&s.Workers, "jobs", 0, "simultaneous simulations (default: one for each processor)")
	f.StringVar(&out, "out", "", "write the report to this folder, as deadlines.txt and deadlines.json")
	return c
}
