package command

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
	"berth/internal/show/completion"
	"berth/internal/show/ui"
)

var rootLong = `berth runs MapReduce jobs and bags of tasks on this machine, on a ` + systems() + ` cluster, on hosts
reached by ssh, or on rented machines. It decides how many workers and how much memory to
use, predicts how long a job takes, and never loses finished work.`

const rootExample = `  berth mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py
  berth bag --each-line files.txt -- gzip -k {}
  berth run job.toml
  berth status`

// systems names the batch systems, as in "on a Slurm cluster".
func systems() string { return registry.Each(func(w driver.BatchWords) string { return w.System }) }

// Extra is what another program adds to the command line of berth.
type Extra struct {
	Name     string           // of the program; empty: berth
	Commands []*cobra.Command // beside those of berth
	Policies leader.Policies  // likewise
}

// Root returns the command line of berth, with what another program adds to it.
func Root(extra Extra) *cobra.Command {
	program := cmp.Or(extra.Name, "berth")
	root := &cobra.Command{
		Use: program, Short: "Run MapReduce jobs and bags of tasks so that they end as early as possible",
		Long: rootLong, Example: rootExample,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.Flags().BoolP("version", "v", false, "version for "+program)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().Bool("json", false, "print the result as JSON and show no progress")
	root.AddCommand(newMapReduce(submit), newBag(submit, submitLines), newRun(submit, submitLines, submitStages), newPlan(), newFront(), newSample(), newStatus(), newProgress(), newWait(), newCat(),
		newAdd(), newClose(), newWatch(), newCancel(), newForget(), newExplain(), newResume(), newReport(), newDashboard(), newMachines(), newSimulate(), newTrace(), newHadoopHome(), newHadoop(), newHQHome(), newHQ(), newServer(extra.Policies), newWorker(), newDocs())
	root.AddCommand(extra.Commands...)
	completion.Offer(root)
	group(completion.AddCommand(root))
	groupCommands(root)
	group(foreign(root))
	root.RunE = func(c *cobra.Command, _ []string) error {
		if asked, err := c.Flags().GetBool("version"); err != nil || !asked {
			return c.Help()
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), program, version())
		return err
	}
	return root
}

// wantJSON reports whether --json was given.
func wantJSON(cmd *cobra.Command) bool {
	v, err := cmd.Flags().GetBool("json")
	return err == nil && v
}

// Show prints what a command of another program has found out, as those of berth do.
func Show(cmd *cobra.Command, v any, text func(io.Writer) error) error { return show(cmd, v, text) }

// show prints what a command has found out: as JSON where that is wanted, else as text.
func show(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantJSON(cmd) {
		return ui.JSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}
