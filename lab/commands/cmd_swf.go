package commands

import (
	"github.com/spf13/cobra"

	"berth/internal/command"
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
allocated_resources is empty, and so is metadata; consumed_energy is -1, not computed.`

func newSWF() *cobra.Command {
	var o SWF
	c := &cobra.Command{
		Use: "swf FILE", Short: "Replay a log of a cluster under a policy of batch systems", Args: command.One("log", 1, true), Long: swfLong,
		Example: "  berth-lab swf SDSC-SP2-1998-4.2-cln.swf.gz --filter --policy easy\n" +
			"  berth-lab swf log.swf --nodes 128 --policy cbf --estimates exact --out waits.swf.gz\n" +
			"  berth-lab swf log.swf --odd skip --out jobs.csv --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.Run(cmd.Context(), command.Console(cmd), args[0])
		},
	}
	o.Register(c.Flags())
	return c
}
