package main

import (
	"context"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/driver/ec2"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/ui"
)

func newMachines() *cobra.Command {
	c := &cobra.Command{
		Use: "machines", Short: "Show rented machines, and end them",
		Long: `Show the machines that berth has rented (--on ec2), and end them. The provider is asked, so
this works whether or not anything of berth runs.`,
		Example: "  berth machines list\n  berth machines stop i-0abc1234def567890\n  berth machines stop --all",
	}
	c.AddCommand(newMachinesList(), newMachinesStop())
	return group(c)
}

func newMachinesList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show rented machines, since when and what they have cost", Args: noArguments,
		Example: "  berth machines list\n  berth machines list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := rentedMachines(cmd.Context())
			if err != nil {
				return err
			}
			v := machinesView(all)
			return show(cmd, v, func(w io.Writer) error { return ui.RentedMachines(w, v) })
		},
	}
}

// rentedMachines asks the provider.
func rentedMachines(ctx context.Context) ([]ec2.Machine, error) {
	h, err := home.Existing()
	if err != nil {
		return nil, err
	}
	return ec2.List(ctx, os.Environ(), h.Server(), job.Time(time.Now().UnixNano()))
}

// machinesView is what is shown of machines.
func machinesView(all []ec2.Machine) ui.Machines {
	v, now := ui.Machines{Machines: []ui.Machine{}}, job.Time(time.Now().UnixNano())
	for _, m := range all {
		v.Machines = append(v.Machines, ui.Machine{ID: m.ID, Type: m.Type, State: m.State, Region: m.Region, SinceNs: m.Since,
			Seconds: max(0, now.Sub(m.Since).Seconds()), Cost: m.Cost, Job: m.Job, Alloc: m.Alloc, Foreign: m.Foreign})
	}
	return v
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
			found, err := rentedMachines(cmd.Context())
			if err != nil {
				return err
			}
			wanted, err := chosen(found, args)
			if err != nil {
				return err
			}
			if err := ec2.Stop(cmd.Context(), os.Environ(), wanted); err != nil {
				return err
			}
			v := machinesView(wanted)
			return show(cmd, v, func(w io.Writer) error { return ui.StoppedMachines(w, v) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "end all that were rented from this state folder")
	return c
}

// chosen returns the machines of those ids, or those of this state folder.
func chosen(all []ec2.Machine, ids []string) ([]ec2.Machine, error) {
	if len(ids) == 0 {
		return slices.DeleteFunc(all, func(m ec2.Machine) bool { return m.Foreign }), nil
	}
	var some []ec2.Machine
	for _, id := range ids {
		i := slices.IndexFunc(all, func(m ec2.Machine) bool { return m.ID == id })
		if i < 0 {
			return nil, job.ArgumentError(id, "berth has no such machine rented", "look at berth machines list")
		}
		some = append(some, all[i])
	}
	return some, nil
}
