package drivertest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/node/worker"
	"berth/internal/wire"
)

// Serve is ssh.Serve, which tests pass to RemoteWorker: package ssh cannot import itself through
// this package.
type Serve func(ctx context.Context, run func(ctx context.Context, c wire.WorkerConfig, t worker.Tunnel) error) error

// Hold is ssh.Hold.
type Hold func(ctx context.Context, c wire.WorkerConfig, files http.Handler, log *slog.Logger) error

// RemoteWorker makes a test program the program of a driver for other machines. args are the
// arguments after "worker": "--stdio" runs the worker on the machine, "--config FILE" holds it. It
// returns the exit status.
func RemoteWorker(args []string, serve Serve, hold Hold) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	if args[0] == "--stdio" {
		err = serve(ctx, func(ctx context.Context, c wire.WorkerConfig, t worker.Tunnel) error {
			return worker.Run(ctx, worker.Config{WorkerConfig: c, Tunnel: t, MaxOrphan: time.Minute, Log: log})
		})
	} else {
		var c wire.WorkerConfig
		var b []byte
		if b, err = os.ReadFile(args[1]); err == nil {
			err = json.Unmarshal(b, &c)
		}
		if err == nil {
			err = hold(ctx, c, http.NotFoundHandler(), log)
		}
	}
	if err != nil {
		log.Error("worker failed", "err", err)
		return 1
	}
	return 0
}
