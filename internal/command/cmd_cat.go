package command

import (
	"os"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/show/results"
)

func newCat() *cobra.Command {
	var stderr, tag bool
	c := &cobra.Command{
		Use: "cat [JOB [TASK...]]", Short: "Print the output of the tasks of a job",
		Long: `Print the standard output of the tasks of a bag, in the order of its entries. TASK selects tasks by their number from 1,
or by their index of an array. For a MapReduce job, print the parts of its output. Tasks that have not ended have no
output yet.`,
		Example: "  berth cat\n  berth cat bag-7 12 13\n  berth cat bag-7 --tag | grep error\n  berth cat mr-3 | sort -k2 -n",
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantJSON(cmd) {
				return job.ArgumentError("--json", "the output of tasks is printed unchanged, not as JSON", "remove --json")
			}
			_, r, err := named(args)
			if err != nil {
				return err
			}
			spec, tasks, err := r.Load()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				args = args[1:]
			}
			if spec.Kind == job.MapReduce {
				if len(args) > 0 || stderr || tag {
					return job.ArgumentError(string(r.ID), "the output of a MapReduce job is printed as a whole", "name only the job, without tasks, --stderr or --tag")
				}
				return results.Parts(cmd.Context(), os.Stdout, spec.MapReduce)
			}
			p := results.NewPrinter(r.ID, spec.Bag, tasks, results.Options{Tag: tag})
			p.Out = os.Stdout
			if stderr {
				p.Out, p.Err = nil, os.Stdout
			}
			if spec.Bag.Collect {
				if err := results.Ended(r, p); err != nil {
					return err
				}
			}
			return printTasks(p, args)
		},
	}
	c.Flags().BoolVar(&stderr, "stderr", false, "print the standard error of the tasks instead")
	c.Flags().BoolVar(&tag, "tag", false, "start each line with the entry of its task and a tab")
	return c
}

func printTasks(p *results.Printer, names []string) error {
	tasks, err := p.Find(names)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if err := p.Print(task); err != nil {
			return err
		}
	}
	return p.Missing()
}
