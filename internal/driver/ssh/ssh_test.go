package ssh

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/node/worker"
	"berth/internal/wire"
	"berth/test/support/drivertest"
	"berth/test/support/fleet"
)

// TestMain makes the test program the program that the driver starts, here and on the hosts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		os.Exit(drivertest.RemoteWorker(os.Args[2:], serve, Hold))
	}
	os.Exit(m.Run())
}

// serve is Serve with the tunnel's type that drivertest knows.
func serve(ctx context.Context, run func(context.Context, wire.WorkerConfig, worker.Tunnel) error) error {
	return Serve(ctx, func(ctx context.Context, c wire.WorkerConfig, t *Tunnel) error { return run(ctx, c, t) })
}

// onHosts adds hosts to the requests of the suite, which name none. The second allocation gets the second half of the hosts.
type onHosts struct {
	driver.Driver
	hosts   *fleet.Fleet
	perNode int
}

func (d *onHosts) named(id job.AllocID, req job.AllocRequest) job.AllocRequest {
	first := 1
	if id == "a2" {
		first = 3
	}
	req.Remote.Command = d.hosts.Command
	for i := range req.Nodes {
		req.Remote.Hosts = append(req.Remote.Hosts, job.Host{Name: fmt.Sprintf("h%d", first+i), CPUs: d.perNode})
	}
	return req
}

func (d *onHosts) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return d.Driver.Request(ctx, id, d.named(id, req))
}

func (d *onHosts) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return d.Driver.Adopt(ctx, id, d.named(id, req))
}

// TestDriver runs the conformance suite on real servers.
func TestDriver(t *testing.T) {
	hosts := fleet.ForTest(t, fleet.Options{}, fleet.Names(fleet.Machine{}, "h1", "h2", "h3")...)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := job.Resources{CPUs: 1, Mem: 1 << 30}
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: node, WallTime: 3 * time.Second}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		setup := driver.Setup{Exe: exe, Issue: s.Issue, Report: s.Report, Now: func() job.Time { return job.Time(time.Now().UnixNano()) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
		return &onHosts{Driver: local.New(local.Options{Setup: setup, Dir: s.Dir}), hosts: hosts, perNode: 1}
	})
}

// TestToken checks that a host sees the shared folder only if the token is in it.
func TestToken(t *testing.T) {
	c := wire.WorkerConfig{Scratch: t.TempDir(), Token: "right"}
	if wire.SeesToken(c.Scratch, c.Token) {
		t.Error("a folder without the token counts as the shared one")
	}
	if err := os.WriteFile(filepath.Join(c.Scratch, wire.TokenName), []byte("right"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !wire.SeesToken(c.Scratch, c.Token) {
		t.Error("the shared folder is not seen")
	}
}

// TestExamineSees checks that a host reports whether it sees a folder, whatever the folder's name is.
func TestExamineSees(t *testing.T) {
	here := &wire.Remote{Host: job.Host{Name: job.ThisHost}}
	for _, name := range []string{"plain", "two words", `a "quote" and a $HOME`, "it's", "ein Größenmaß"} {
		dir := filepath.Join(t.TempDir(), name)
		for _, there := range []bool{false, true} {
			if there {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if m, err := examine(t.Context(), here, "none", dir); err != nil || m.sees != there {
				t.Errorf("%q there %v: %+v, %v", name, there, m, err)
			}
		}
	}
}

// TestArchitecture checks that a host of another architecture is refused, and that the error says what to do.
func TestArchitecture(t *testing.T) {
	r := &wire.Remote{Host: job.Host{Name: "pi"}}
	for _, m := range []machine{{system: "Linux", arch: "sparc64"}, {system: "Darwin", arch: "x86_64"}} {
		if err := m.check(r); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "host pi") || !strings.Contains(err.Error(), m.arch) || !strings.Contains(err.Error(), "--hosts") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// TestNoisyHost checks that output of the start-up files of a user's shell is skipped.
func TestNoisyHost(t *testing.T) {
	noisy := filepath.Join(t.TempDir(), "noisy")
	script := "#!/bin/sh\necho 'Welcome to pi!'\nfor word; do last=$word; done\nexec /bin/sh -c \"$last\"\n"
	if err := os.WriteFile(noisy, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := examine(t.Context(), &wire.Remote{Host: job.Host{Name: "pi"}, Command: noisy}, "none", "")
	if err != nil || m.cpus < 1 || m.mem < 64<<20 || m.has {
		t.Errorf("%+v, %v", m, err)
	}
}
