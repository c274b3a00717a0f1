package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/dashboard"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/machines"
	"berth/internal/report"
	"berth/internal/ui"
)

// shownOnPage is how many jobs that are over the dashboard lists.
const shownOnPage = 50

func newDashboard() *cobra.Command {
	var port int
	c := &cobra.Command{
		Use: "dashboard", Short: "Serve a page that shows your jobs live", Args: noArguments,
		Long: `Serve a page that shows your jobs live, until an interrupt: how far they are, who ran what when, what they take of their
nodes, and what was predicted. The printed address opens it in a browser on this machine, and lets nobody else in: keep it to
yourself. From another machine, open a tunnel first: ssh -L 8080:127.0.0.1:8080 HOST, with --port 8080 here. The page changes nothing.`,
		Example: "  berth dashboard\n  berth dashboard --port 8080",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return job.ArgumentError("--port", fmt.Sprintf("%d is no port", port), "write a number from 1 to 65535, or 0 for any that is free")
			}
			h, err := home.Open()
			if err != nil {
				return err
			}
			return servePage(cmd, h, port)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "listen on this port (default any that is free)")
	return c
}

// servePage prints the address of the page and serves it until it is told to end.
func servePage(cmd *cobra.Command, h home.Home, port int) error {
	ctx, stop := terminable(cmd.Context())
	defer stop()
	listed := selection{limit: shownOnPage}
	s := dashboard.New(dashboard.Source{
		Home: h,
		List: func(ctx context.Context) ([]report.JobView, int, error) { return listed.views(ctx, h) },
		View: func(ctx context.Context, r home.Run) (report.JobView, error) {
			if _, err := os.Stat(r.Dir); err != nil {
				return report.JobView{}, job.ArgumentError(string(r.ID), "there is no such job any more", "berth status lists the jobs there are")
			}
			return view(ctx, h, r)
		},
		Machines: func(ctx context.Context) (ui.Machines, error) { return machines.List(ctx, os.Environ()) },
	})
	l, address, err := s.Listen(port)
	if err != nil {
		return err
	}
	tell := func(w io.Writer) error {
		_, err := fmt.Fprintln(w, address)
		return err
	}
	if err := show(cmd, ui.Address{Address: address}, tell); err != nil {
		return err
	}
	return s.Serve(ctx, l)
}
