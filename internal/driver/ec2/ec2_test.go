package ec2

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/driver/ssh"
	"berth/internal/job"
	"berth/internal/wire"
	"berth/internal/worker"
	"berth/test/support/drivertest"
	"berth/test/support/moto"
)

// TestMain lets the test program be what the driver starts, here and on the machines.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func beWorker(args []string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	if args[0] == "--stdio" {
		err = ssh.Serve(ctx, func(ctx context.Context, c wire.WorkerConfig, tunnel *ssh.Tunnel) error {
			return worker.Run(ctx, worker.Config{WorkerConfig: c, Tunnel: tunnel, MaxOrphan: time.Minute, Log: log})
		})
	} else {
		var c wire.WorkerConfig
		var b []byte
		if b, err = os.ReadFile(args[1]); err == nil {
			err = json.Unmarshal(b, &c)
		}
		if err == nil {
			err = ssh.Hold(ctx, c, http.NotFoundHandler(), log)
		}
	}
	if err != nil {
		log.Error("worker failed", "err", err)
		return 1
	}
	return 0
}

// renting is a driver whose requests name no machines: the suite knows of none.
type renting struct{ *Driver }

func machines(n int) job.Rent {
	return job.Rent{Region: "eu-central-1", Machines: []job.Rented{{Name: "small", Count: n, Instance: "t3.small", Has: job.Resources{CPUs: 1, Mem: 1 << 30}, Image: "ami-12c6146b", Price: 0.1, Unit: 1}}}
}

func (r renting) named(req job.AllocRequest) job.AllocRequest {
	req.Remote.Command, req.Remote.Rent = first(r.env, ssh.CommandVar), machines(req.Nodes)
	return req
}

func (r renting) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return r.Driver.Request(ctx, id, r.named(req))
}

func (r renting) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return r.Driver.Adopt(ctx, id, r.named(req))
}

// Snapshot is what a job sees that has rented nothing yet.
func (r renting) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	rent := machines(2)
	s, err := sight(r.now(), &rent)
	return s.Snapshot, err
}

// TestDriver runs the conformance suite on machines of moto's server.
func TestDriver(t *testing.T) {
	cloud := moto.Start(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: job.Resources{CPUs: 1, Mem: 1 << 30}, WallTime: 3 * time.Second}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		setup := driver.Setup{Exe: exe, Issue: s.Issue, Report: s.Report, Env: cloud.Env, Now: func() job.Time { return job.Time(time.Now().UnixNano()) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
		return renting{newDriver(setup, s.Dir, filepath.Join(filepath.Dir(s.Dir), "rented"))}
	})
	if t.Failed() {
		return
	}
	t.Cleanup(func() {
		if _, live := cloud.Rented(); len(live) > 0 {
			t.Errorf("machines %v are rented yet", live)
		}
	})
}
