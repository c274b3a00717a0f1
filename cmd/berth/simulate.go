package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// garbageShare lets garbage grow to so many times, in percent, what is in use, which is some
// 10 MB: with the usual 100 a fifth of an experiment's time goes into collecting it.
const garbageShare = 400

func newSimulate() *cobra.Command {
	c := &cobra.Command{
		Use: "simulate", Short: "Try batch systems, workloads and berth's own choices in virtual time",
		Long: `Try batch systems, workloads and berth's own choices in virtual time. What decides is
what decides when jobs run for real; only nodes, tasks and the clock are made up. The
same command gives the same result, to the byte, on any machine; only wall_s, how long
the simulation took, differs.`,
		Example: "  berth simulate swf SDSC-SP2-1998-4.2-cln.swf.gz --filter --policy cbf\n" +
			"  berth simulate swf log.swf --nodes 256 --policy easy --out jobs.csv --json",
	}
	c.PersistentPreRun = func(*cobra.Command, []string) {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(garbageShare)
		}
	}
	c.AddCommand(newSimulateSWF(), newSimulateRun(), newSimulateTable2(), newSimulateTable3(), newSimulateFig3(), newSimulateFig4(), newSimulateVariants())
	return group(c)
}
