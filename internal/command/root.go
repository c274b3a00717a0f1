package command

import (
	"io"

	"github.com/spf13/cobra"

	"berth/internal/show/completion"
	"berth/internal/show/ui"
)

const rootLong = `berth runs MapReduce jobs and bags of tasks on this machine, on a Slurm cluster, on hosts
reached by ssh, or on rented machines. It decides how many workers and how much memory to
use, predicts how long a job takes, and never loses finished work.`

const rootExample = `  berth mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py
  berth bag --each-line files.txt -- gzip -k {}
  berth run job.toml
  berth status`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "berth", Short: "Run MapReduce jobs and bags of tasks so that they end as early as possible",
		Long: rootLong, Example: rootExample,
		SilenceUsage: true, SilenceErrors: true, Version: version(),
	}
	root.SetVersionTemplate("berth {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().Bool("json", false, "print the result as JSON and show no progress")
	root.AddCommand(newMapReduce(submit), newBag(submit), newRun(submit, submitStages), newPlan(), newFront(), newSample(), newStatus(), newProgress(), newWait(), newCat(),
		newCancel(), newForget(), newExplain(), newResume(), newReport(), newDashboard(), newMachines(), newSimulate(), newTrace(), newHadoopHome(), newHadoop(), newServer(), newWorker(), newDocs())
	completion.Offer(root)
	completion.AddCommand(root)
	return group(foreign(root))
}

// wantJSON reports whether --json was given.
func wantJSON(cmd *cobra.Command) bool {
	v, err := cmd.Flags().GetBool("json")
	return err == nil && v
}

// show prints what a command has found out: as JSON where that is wanted, else as text.
func show(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantJSON(cmd) {
		return ui.JSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}
