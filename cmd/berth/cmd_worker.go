package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/driver/local"
	"berth/internal/home"
	"berth/internal/logfile"
	"berth/internal/wire"
	"berth/internal/worker"
)

func newWorker() *cobra.Command {
	var config string
	c := &cobra.Command{
		Use: "worker", Short: "Run tasks on a node (started by berth itself)", Args: noArguments, Hidden: true,
		Example: "  berth worker --config FILE",
		RunE: func(cmd *cobra.Command, _ []string) error {
			exe, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find berth's own program: %w", err)
			}
			cfg := worker.Config{
				StandInCommand: append([]string{exe}, wire.StandInArgs...),
				Log:            slog.New(slog.NewTextHandler(logfile.Stderr(), nil)),
			}
			if m, err := local.ThisMachine(); err == nil {
				cfg.NodeType = m.NodeType()
			}
			if err := home.ReadJSON(config, &cfg.WorkerConfig); err != nil {
				return err
			}
			ctx, stop := terminable(cmd.Context())
			defer stop()
			return worker.Run(ctx, cfg)
		},
	}
	c.Flags().StringVar(&config, "config", "", "file that says who it is and where its coordinator is")
	_ = c.MarkFlagRequired("config")
	return c
}
