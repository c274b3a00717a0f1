package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/driver/registry"
	"berth/internal/driver/ssh"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/node/worker"
	"berth/internal/sys/gpus"
	"berth/internal/sys/logfile"
	"berth/internal/sys/procattr"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

func newWorker() *cobra.Command {
	var o struct {
		Config string `flag:"config" usage:"file that says who it is and where its coordinator is"`
		Stdio  bool   `flag:"stdio" usage:"be told that on standard input, by a worker process on another machine that holds this one"`
		Sweep  string `flag:"sweep" usage:"kill what tasks of the dead worker with this folder have left"`
	}
	c := command("worker", NoArguments, func(cmd *cobra.Command, _ []string) error {
		exe, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find berth's own program: %w", err)
		}
		cfg := worker.Config{
			StandInCommand: append([]string{exe}, wire.StandInArgs...),
			SweepCommand:   []string{exe, "worker", "--sweep"},
			Variables:      process.BatchVariables{Systems: registry.Variables()},
			Log:            slog.New(slog.NewTextHandler(logfile.Stderr(), nil)),
		}
		if m, err := local.ThisMachine(); err == nil {
			cfg.NodeType = m.NodeType()
		}
		if o.Sweep != "" {
			return worker.Sweep(o.Sweep, cfg.Variables, cfg.Log)
		}
		if err := procattr.DefaultSignals(); err != nil {
			cfg.Log.Warn("tasks may begin with signals ignored or blocked", "err", err)
		}
		ctx, stop := terminable(cmd.Context())
		defer stop()
		if o.Stdio {
			return ssh.Serve(ctx, func(ctx context.Context, c wire.WorkerConfig, t *ssh.Tunnel) error {
				cfg.WorkerConfig, cfg.Tunnel, cfg.Files, cfg.Cache = c, t, t.Files, t.Cache
				cfg.GPUs = gpus.OfMachine(os.Environ(), "/")
				return runWorker(ctx, cfg)
			})
		}
		if err := statedir.ReadJSON(o.Config, &cfg.WorkerConfig); err != nil {
			return err
		}
		if cfg.Remote != nil {
			return hold(ctx, o.Config, cfg.WorkerConfig, cfg.Log)
		}
		if cfg.Token != "" { // a batch system started it
			cfg.Variables.Node = os.Environ()
			cfg.GPUs = gpus.OfAllocation(os.Environ(), cfg.Capacity.GPUs, "/")
		}
		return runWorker(ctx, cfg)
	})
	c.Hidden = true
	addFlags(c.Flags(), &o)
	c.MarkFlagsOneRequired("config", "stdio", "sweep")
	return c
}

// runWorker runs the worker of this node.
func runWorker(ctx context.Context, cfg worker.Config) (err error) {
	if cfg.Local, err = driver.LocalIn(cfg.Local); err != nil {
		return err
	}
	return worker.Run(ctx, cfg)
}

// hold holds a worker on another machine, and serves it files of the jobs that it may have tasks of.
func hold(ctx context.Context, config string, c wire.WorkerConfig, log *slog.Logger) error {
	h, err := statedir.Existing()
	if err != nil {
		return err
	}
	files := transfer.NewServer(transfer.Runs{Home: h, Host: c.Remote.Host.Name, Rented: c.Remote.On == registry.Rented}, strings.TrimSuffix(config, ".json")+".parts", log)
	defer files.Close()
	return ssh.Hold(ctx, c, files, log)
}
