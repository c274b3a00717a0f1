package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/job"
	"berth/internal/machines"
	"berth/internal/ui"
)

func newMachines() *cobra.Command {
	c := &cobra.Command{
		Use: "machines", Short: "Show rented machines, and end them",
		Long: `Show the machines that berth has rented (--on ec2), and end them. The provider is asked, so
this works whether or not anything of berth runs.`,
		Example: "  berth machines list\n  berth machines stop i-0abc1234def567890\n  berth machines stop --all",
	}
	list := &cobra.Command{
		Use: "list", Short: "Show rented machines, since when and what they have cost", Args: noArguments,
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
		Long: `End rented machines for good. What runs on them is lost, and a job that lives on runs it
elsewhere; no others are rented in their place. --all means those that were rented from this state folder.`,
		Example: "  berth machines stop i-0abc1234def567890\n  berth machines stop --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return job.ArgumentError("", "which machines are to end is not clear", "name their ids as in berth machines list, or say --all")
			}
			v, err := machines.Stop(cmd.Context(), os.Environ(), args)
			if err != nil {
				return err
			}
			return show(cmd, v, func(w io.Writer) error { return ui.StoppedMachines(w, v) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "end all that were rented from this state folder")
	return c
}
