package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/driver"
	"berth/internal/home"
	"berth/internal/logfile"
	"berth/internal/worker"
)

func newWorker() *cobra.Command {
	var config string
	c := &cobra.Command{
		Use: "worker", Short: "Run tasks on a node (started by berth itself)", Args: noArguments, Hidden: true,
		Example: "  berth worker --config FILE",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var c driver.WorkerConfig
			if err := home.ReadJSON(config, &c); err != nil {
				return err
			}
			ctx, stop := terminable(cmd.Context())
			defer stop()
			cfg := worker.Config{
				Bundle: c.Bundle, Node: c.Node, Capacity: c.Capacity, CPUs: c.CPUs,
				Scratch: c.Scratch, Token: c.Token, SortMemory: c.SortMemory,
				Log: slog.New(slog.NewTextHandler(logfile.Stderr(), nil)),
			}
			if c.StandIn != nil {
				exe, err := os.Executable()
				if err != nil {
					return fmt.Errorf("find berth's own program: %w", err)
				}
				cfg.StandIn = append([]string{exe}, driver.StandInArgs...)
				cfg.StandInEnv, cfg.StandInAfter, cfg.StandInLog = c.StandIn.Env, c.StandIn.After, c.StandIn.Log
			}
			return worker.Run(ctx, cfg)
		},
	}
	c.Flags().StringVar(&config, "config", "", "file that says who it is and where its coordinator is")
	_ = c.MarkFlagRequired("config")
	return c
}
