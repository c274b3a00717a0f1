package main

import (
	"os"

	"github.com/spf13/cobra"

	"berth/internal/job"
	"berth/internal/results"
)

func newCat() *cobra.Command {
	var stderr, tag bool
	c := &cobra.Command{
		Use: "cat [JOB [TASK...]]", Short: "Print what the tasks of a job wrote",
		Long: `Print what the tasks of a bag wrote to their standard output, in the order of its entries, or of the tasks that are named: by
number from 1, or by the index of an array. Of a MapReduce job the parts of its output are printed. Tasks that have not ended have no output yet.`,
		Example: "  berth cat\n  berth cat bag-7 12 13\n  berth cat bag-7 --tag | grep error\n  berth cat mr-3 | sort -k2 -n",
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantJSON(cmd) {
				return job.ArgumentError("--json", "what tasks wrote is printed as it is", "leave it out")
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
					return job.ArgumentError(string(r.ID), "of a MapReduce job the output is printed as a whole", "name the job alone")
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
	c.Flags().BoolVar(&stderr, "stderr", false, "print what tasks wrote to their standard error instead")
	c.Flags().BoolVar(&tag, "tag", false, "begin each line with the task's entry and a tab")
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
	return nil
}
