package command

import (
	"io"

	"github.com/spf13/cobra"

	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newProgress() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "progress [JOB]", Short: "Show the progress of a job", Args: oneJob,
		Long:    "Show the progress of a job, named by its id or number, or of the last job.",
		Example: "  berth progress\n  berth progress mr-3 --follow\n  berth progress 3 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				return kindError("", await(cmd, args))
			}
			h, r, err := named(args)
			if err != nil {
				return err
			}
			v, err := view(cmd.Context(), h, r)
			if err != nil {
				return err
			}
			return show(cmd, v, func(w io.Writer) error { return ui.Progress(ui.ForTerminal(w), v, 0) })
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show progress until the job is over; an interrupt ends the command, not the job")
	return c
}

func newWait() *cobra.Command {
	c := &cobra.Command{
		Use: "wait [JOB]", Short: "Wait until a job is over", Args: oneJob,
		Long: `Wait until a job is over, named by its id or number, or the last job. The exit code is
that of the command that submitted it. If the coordinator has died, another one is
started and continues the job. An interrupt ends the command, not the job.`,
		Example: "  berth wait bag-7\n  berth wait --keep-order",
		RunE: func(cmd *cobra.Command, args []string) error {
			return await(cmd, args)
		},
	}
	addResultFlags(c.Flags())
	return forEitherKind(c)
}

// await shows the job that the arguments name until it is over, and returns the error of its exit code.
func await(cmd *cobra.Command, args []string) error {
	h, r, err := named(args)
	if err != nil {
		return err
	}
	v, err := attach(cmd, h, r, attachment{})
	if err != nil {
		return kindError(statedir.KindOf(r.ID), err)
	}
	return jobExit(v)
}

// named opens the state folder and finds the job that the arguments name, the last one by default.
func named(args []string) (statedir.Home, statedir.Run, error) {
	h, err := statedir.Open()
	if err != nil {
		return h, statedir.Run{}, err
	}
	name := "last"
	if len(args) > 0 {
		name = args[0]
	}
	r, err := find(h, name)
	return h, r, err
}
