package command

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/machines"
	"berth/internal/core/job"
	"berth/internal/show/ui"
)

func newMachines() *cobra.Command {
	c := &cobra.Command{
		Use: "machines", Short: "List and end rented machines",
		Long: `Show the machines that berth has rented (--on ec2), and end them. berth asks the provider, so
this works even if no coordinator runs.`,
		Example: "  berth machines list\n  berth machines stop i-0abc1234def567890\n  berth machines stop --all",
	}
	list := &cobra.Command{
		Use: "list", Short: "List rented machines with their start and their cost so far", Args: NoArguments,
		Example: "  berth machines list\n  berth machines list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := machines.List(cmd.Context(), os.Environ())
			if err != nil {
				return err
			}
			return show(cmd, v, func(w io.Writer) error { return ui.RentedMachines(w, v) })
		},
	}
	c.AddCommand(list, newMachinesStop())
	return group(c)
}

func newMachinesStop() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "stop [ID...]", Short: "End rented machines for good",
		Long: `End rented machines for good. Attempts that run on them are lost; their job runs these tasks again on
other machines. No machines are rented instead. --all means those that were rented from this state folder.`,
		Example: "  berth machines stop i-0abc1234def567890\n  berth machines stop --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return job.ArgumentError("", "name the machines to end, or use --all, but not both", "berth machines list shows the ids")
			}
			v, err := machines.Stop(cmd.Context(), os.Environ(), args)
			if err != nil {
				return err
			}
			return show(cmd, v, func(w io.Writer) error { return ui.StoppedMachines(w, v) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "end all machines that were rented from this state folder")
	return c
}
