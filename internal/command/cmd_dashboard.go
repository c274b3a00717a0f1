package command

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"berth"
	"berth/internal/command/machines"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/show/dashboard"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// shownOnPage is how many jobs that are over the dashboard lists.
const shownOnPage = 50

func newDashboard() *cobra.Command {
	var o struct {
		Port int `flag:"port" usage:"port to listen on (default: any free port)"`
	}
	c := command("dashboard", NoArguments, func(cmd *cobra.Command, _ []string) error {
		if o.Port < 0 || o.Port > 65535 {
			return job.ArgumentError("--port", fmt.Sprintf("%d is not a port", o.Port), "write a number from 1 to 65535, or 0 for any free port")
		}
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		return servePage(cmd, h, o.Port)
	})
	addFlags(c.Flags(), &o)
	return c
}

// servePage prints the address of the page and serves it until a signal ends the command.
func servePage(cmd *cobra.Command, h statedir.Home, port int) error {
	ctx, stop := terminable(cmd.Context())
	defer stop()
	listed := selection{Limit: shownOnPage}
	s := dashboard.New(dashboard.Source{
		Home: h, Version: berth.Version(),
		List: func(ctx context.Context) ([]report.JobView, int, error) { return listed.views(ctx, h) },
		View: func(ctx context.Context, r statedir.Run) (report.JobView, error) {
			if _, err := os.Stat(r.Dir); err != nil {
				return report.JobView{}, job.ArgumentError(string(r.ID), "this job does not exist any more", "list the jobs with berth status")
			}
			return view(ctx, r)
		},
		Printed:  control.NewClient(h).Printed,
		Machines: func(ctx context.Context) (ui.Machines, error) { return machines.List(ctx, os.Environ()) },
	})
	l, address, err := s.Listen(port)
	if err != nil {
		return err
	}
	if err := reply(cmd, ui.Address{Address: address}, "%s", address); err != nil {
		return err
	}
	return s.Serve(ctx, l)
}
