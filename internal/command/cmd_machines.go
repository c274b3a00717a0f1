package command

import (
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/machines"
	"berth/internal/core/job"
	"berth/internal/show/ui"
)

func newMachines() *cobra.Command {
	list := command("machines list", NoArguments, func(cmd *cobra.Command, _ []string) error {
		v, err := machines.List(cmd.Context(), os.Environ())
		if err != nil {
			return err
		}
		return display(cmd, v, ui.RentedMachines)
	})
	return group(command("machines", nil, nil), list, newMachinesStop())
}

func newMachinesStop() *cobra.Command {
	var o struct {
		All bool `flag:"all" usage:"end all machines that were rented from this state folder"`
	}
	c := command("machines stop", nil, func(cmd *cobra.Command, args []string) error {
		if o.All == (len(args) > 0) {
			return job.ArgumentError("", "name the machines to end, or use --all, but not both", "berth machines list shows the ids")
		}
		v, err := machines.Stop(cmd.Context(), os.Environ(), args)
		if err != nil {
			return err
		}
		return display(cmd, v, ui.StoppedMachines)
	})
	addFlags(c.Flags(), &o)
	return c
}
