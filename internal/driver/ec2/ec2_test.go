package ec2

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/ssh"
	"berth/internal/node/worker"
	"berth/internal/wire"
	"berth/test/support/drivertest"
	"berth/test/support/moto"
)

// TestMain makes the test program the program that the driver starts, here and on the machines.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		os.Exit(drivertest.RemoteWorker(os.Args[2:], serve, ssh.Hold))
	}
	os.Exit(m.Run())
}

// serve is ssh.Serve with the tunnel's type that drivertest knows.
func serve(ctx context.Context, run func(context.Context, wire.WorkerConfig, worker.Tunnel) error) error {
	return ssh.Serve(ctx, func(ctx context.Context, c wire.WorkerConfig, t *ssh.Tunnel) error { return run(ctx, c, t) })
}

// renting adds machines to the requests of the suite, which name none.
type renting struct{ *Driver }

func machines(n int) job.Rent {
	return job.Rent{Region: "eu-central-1", Machines: []job.Rented{{Name: "small", Count: n, Instance: "t3.small", Has: job.Resources{CPUs: 1, Mem: 1 << 30}, Image: "ami-12c6146b", Price: 0.1, Unit: 1}}}
}

func (r renting) named(req job.AllocRequest) job.AllocRequest {
	req.Remote.Command, req.Remote.Rent = job.Getenv(r.env, ssh.CommandVar), machines(req.Nodes)
	return req
}

func (r renting) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return r.Driver.Request(ctx, id, r.named(req))
}

func (r renting) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return r.Driver.Adopt(ctx, id, r.named(req))
}

// TestDriver runs the conformance suite on machines of moto's server.
func TestDriver(t *testing.T) {
	cloud := moto.Start(t, "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: job.Resources{CPUs: 1, Mem: 1 << 30}, WallTime: 3 * time.Second, Rented: true}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		now := func() job.Time { return job.Time(time.Now().UnixNano()) }
		setup := driver.Setup{Exe: exe, Issue: s.Issue, Report: s.Report, Env: cloud.Env, Now: now, Wall: now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
		return renting{newDriver(setup, s.Dir, filepath.Join(filepath.Dir(s.Dir), "rented"))}
	})
	if t.Failed() {
		return
	}
	t.Cleanup(func() {
		if _, live := cloud.Rented(); len(live) > 0 {
			t.Errorf("machines %v are still rented", live)
		}
	})
}
