package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/node/worker"
	"berth/internal/sys/gpus"
	"berth/internal/sys/probe"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
	"berth/test/support/drivertest"
)

// TestMain makes the test program the worker that the driver starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[3]))
	}
	os.Exit(m.Run())
}

func beWorker(config string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	b, err := os.ReadFile(config)
	var c wire.WorkerConfig
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err = worker.Run(ctx, worker.Config{WorkerConfig: c, MaxOrphan: time.Minute, Log: log})
	}
	if err != nil {
		log.Error("worker failed", "err", err)
		return 1
	}
	return 0
}

func machine() Machine {
	return Machine{Host: "test", CPUs: []int{0, 1}, Cores: 2, Mem: 2 << 30}
}

func makeDriver(t *testing.T, s drivertest.Setup) driver.Driver {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Dir: s.Dir, Scratch: t.TempDir(), Machine: machine(), Setup: driver.Setup{Exe: exe, Issue: s.Issue, Report: s.Report,
		Now: func() job.Time { return job.Time(time.Now().UnixNano()) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}})
}

func TestDriver(t *testing.T) {
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: job.Resources{CPUs: 1, Mem: 1 << 30}, WallTime: 3 * time.Second, Here: true}, makeDriver)
}

// TestShares checks that ranks get different cores as long as there are enough, and that no worker is bound to some of
// the cores that are shared with others.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		cores, nodes, each int
		only               []int
		want               []int // of the second rank
	}{
		{cores: 4, nodes: 2, each: 2, want: []int{4, 6}},
		{cores: 4, nodes: 5, each: 1},                                    // more workers than cores
		{cores: 2, nodes: 2, each: 1},                                    // a control group has the time of two cores
		{cores: 4, nodes: 2, each: 1, only: []int{2, 6}, want: []int{6}}, // a command that is bound
		{cores: 4, nodes: 3, each: 1, only: []int{2, 6}, want: []int{2, 6}},
		{cores: 4, nodes: 2, each: 1, only: []int{0, 2, 4, 6}, want: []int{0, 2, 4, 6}}, // a batch job that has two
	} {
		m := Machine{CPUs: []int{0, 2, 4, 6}, Cores: c.cores}
		req := job.AllocRequest{Nodes: c.nodes, PerNode: job.Resources{CPUs: c.each}, Only: c.only}
		if got := m.share(req, 1); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestCoresFree checks that allocations of commands that are bound to the same cores run one after the other.
func TestCoresFree(t *testing.T) {
	one := func(only ...int) job.AllocRequest {
		return job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 1}, Only: only}
	}
	d := New(Options{Machine: Machine{CPUs: []int{0, 1, 2}, Cores: 3}})
	d.running["a1"] = &alloc{req: one(0)}
	for _, c := range []struct {
		req  job.AllocRequest
		want bool
	}{{one(0), false}, {one(1), true}, {one(0, 1), true}, {one(), true}} {
		if got := d.fits(&alloc{req: c.req}); got != c.want {
			t.Errorf("%v: %v", c.req.Only, got)
		}
	}
}

// TestGroupLimits: the least limit of a control group and of those around it counts, in both versions.
func TestGroupLimits(t *testing.T) {
	v1 := "3:cpuset:/\n2:cpu,cpuacct:/a/b\n4:memory:/a/b\n0::/c\n"
	for _, c := range []struct {
		groups string
		files  map[string]string
		want   groupLimits
	}{
		{"0::/a/b\n", nil, groupLimits{}},
		{"0::/a/b\n", map[string]string{"a/b/cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n", "a/b/memory.max": "1000\n", "a/memory.max": "max\n"}, groupLimits{1.5, 1000}},
		{v1, map[string]string{"cpu,cpuacct/a/b/cpu.cfs_quota_us": "-1", "cpu,cpuacct/a/cpu.cfs_quota_us": "50000", "cpu,cpuacct/a/cpu.cfs_period_us": "100000",
			"memory/a/b/memory.limit_in_bytes": "9223372036854771712", "memory/memory.limit_in_bytes": "7"}, groupLimits{0.5, 7}},
		{v1, map[string]string{"unified/c/cpu.max": "200000 100000"}, groupLimits{cores: 2}},
		{"nonsense\n", nil, groupLimits{}},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700), os.WriteFile(filepath.Join(root, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got := readGroups(c.groups, root); got != c.want {
			t.Errorf("%q %v: %+v, want %+v", c.groups, c.files, got, c.want)
		}
	}
}

// TestMachine compares the description of this machine with what Go and the kernel report.
func TestMachine(t *testing.T) {
	m, err := ThisMachine()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.CPUs) == 0 || m.Mem < 64<<20 || m.Host == "" {
		t.Errorf("%+v", m)
	}
}

// TestScratch checks that berth uses a folder of its own inside the scratch folder that a user names.
func TestScratch(t *testing.T) {
	named := t.TempDir()
	d := New(Options{Dir: t.TempDir(), Scratch: "/default", Machine: machine(), Setup: driver.Setup{Issue: func(job.NodeID, string) error { return nil }}})
	for given, want := range map[string]string{"": "/default", named: driver.ScratchIn(named)} {
		a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 1}, Scratch: given}}
		if err := d.writeConfigs(a); err != nil {
			t.Fatal(err)
		}
		var c wire.WorkerConfig
		if err := statedir.ReadJSON(a.file(0, configEnd), &c); err != nil || c.Scratch != want || given != "" && filepath.Dir(c.Scratch) != given {
			t.Errorf("given %q: got %q, %v, want %q", given, c.Scratch, err, want)
		}
	}
}

// TestRates checks that a worker's config has the user's disk and network rates, the folder of measurements, and the number of workers.
func TestRates(t *testing.T) {
	d := New(Options{Dir: t.TempDir(), Scratch: "/default", Machine: machine(), Setup: driver.Setup{State: "/state", Issue: func(job.NodeID, string) error { return nil }}})
	rates := job.NodeRates{Disk: []job.NodeRate{{Bytes: 5}}}
	a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 2, PerNode: job.Resources{CPUs: 1}, Rates: rates}}
	if err := d.writeConfigs(a); err != nil {
		t.Fatal(err)
	}
	var c wire.WorkerConfig
	if err := statedir.ReadJSON(a.file(1, configEnd), &c); err != nil || len(c.Rates.Disk) != 1 || c.Rates.Disk[0].Bytes != 5 ||
		c.Nodes != "/state/nodes" || c.Disk != "/default" || c.Sharers != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestGPUs checks that workers of one machine get GPUs of their own, and that what an allocation has is not free for the next one.
func TestGPUs(t *testing.T) {
	m := machine()
	m.GPUs = gpus.OfAllocation([]string{"CUDA_VISIBLE_DEVICES=1,3,5"}, 3, "/nowhere")
	d := New(Options{Dir: t.TempDir(), Scratch: "/default", Machine: m, Setup: driver.Setup{Issue: func(job.NodeID, string) error { return nil }}})
	a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 3, PerNode: job.Resources{CPUs: 1, GPUs: 1}}}
	if err := d.writeConfigs(a); err != nil {
		t.Fatal(err)
	}
	for rank, want := range []string{"1", "3", "5"} {
		var c wire.WorkerConfig
		if err := statedir.ReadJSON(a.file(rank, configEnd), &c); err != nil || c.GPUs.Count != 1 || c.GPUs.Lists[0].IDs[0] != want {
			t.Errorf("worker %d has %+v, %v, want %s", rank, c.GPUs, err, want)
		}
	}
	d.running["a1"] = a
	if free := m.Capacity().Minus(d.used()); free.GPUs != 0 {
		t.Errorf("free beside it: %+v", free)
	}
}

// TestAdoptWaiting checks that an allocation that waited for its share of the machine when the
// coordinator died waits again while the allocation before it runs.
func TestAdoptWaiting(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	opts := Options{Dir: t.TempDir(), Scratch: t.TempDir(), Machine: machine(), Setup: driver.Setup{Exe: exe, Issue: func(job.NodeID, string) error { return nil },
		Report: func(step.Input) {}, Now: func() job.Time { return job.Time(time.Now().UnixNano()) }, Log: slog.New(slog.DiscardHandler)}}
	whole := job.AllocRequest{On: Name, Nodes: 1, PerNode: job.Resources{CPUs: 2}}
	halves := job.AllocRequest{On: Name, Nodes: 2, PerNode: job.Resources{CPUs: 1}}
	held := func(d *Driver) (running, waiting int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.running), len(d.waiting)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := New(opts)
	do(first.Request(t.Context(), "a1", whole))
	do(first.Request(t.Context(), "a2", halves))
	do(first.Close())

	second := New(opts)
	t.Cleanup(func() {
		do(second.Release(context.Background(), "a1"))
		do(second.Release(context.Background(), "a2"))
	})
	do(second.Adopt(t.Context(), "a1", whole))
	do(second.Adopt(t.Context(), "a2", halves))
	if r, w := held(second); r != 1 || w != 1 {
		t.Errorf("%d allocations run and %d wait, want 1 and 1", r, w)
	}
	do(second.Release(t.Context(), "a1"))
	if r, w := held(second); r != 1 || w != 0 {
		t.Errorf("then %d run and %d wait, want 1 and 0", r, w)
	}
}

// TestStoppedWorker: a worker that was given up as it is stopped is killed, and another one takes its place; a worker of another node goes on.
func TestStoppedWorker(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dead := make(chan step.NodeDown, 9)
	d := New(Options{Dir: t.TempDir(), Scratch: t.TempDir(), Machine: machine(), Setup: driver.Setup{Exe: exe, Issue: func(job.NodeID, string) error { return nil },
		Report: func(in step.Input) {
			if down, ok := in.(step.NodeDown); ok {
				dead <- down
			}
		},
		Now: func() job.Time { return 0 }, Log: slog.New(slog.DiscardHandler)}})
	if err := d.Request(t.Context(), "a1", job.AllocRequest{On: Name, Nodes: 2, PerNode: job.Resources{CPUs: 1}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Release(context.Background(), "a1") })
	pids := func() (pids [2]int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for i, p := range d.running["a1"].procs {
			pids[i] = p.pid
		}
		return pids
	}
	before := pids()
	if err := syscall.Kill(before[1], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.Replace("a1/1")
	if down := <-dead; down.Node != "a1/1" {
		t.Errorf("reported %+v", down)
	}
	after := pids()
	for after[1] == 0 || after[1] == before[1] { // until the next one is started
		time.Sleep(time.Millisecond)
		after = pids()
	}
	if after[0] != before[0] {
		t.Errorf("the workers were %v and are %v", before, after)
	}
}

// TestSweep checks that workers of unknown allocations are ended and others are not.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	start := func(id job.AllocID) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		a := &alloc{id: id, dir: filepath.Join(dir, string(id))}
		err := os.Mkdir(a.dir, 0o700)
		if err == nil {
			p, _ := probe.Find(cmd.Process.Pid)
			err = os.WriteFile(a.file(11, pidEnd), fmt.Appendf(nil, "%d %d\n", p.PID, p.Start), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	known, unknown := start("a1"), start("a2")
	if err := os.Mkdir(filepath.Join(dir, "a3"), 0o700); err != nil { // without a process
		t.Fatal(err)
	}
	if err := Sweep(dir, []job.AllocID{"a1"}); err != nil {
		t.Fatal(err)
	}
	if err := unknown.Wait(); err == nil || unknown.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the forgotten worker: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "a1" {
		t.Errorf("folders %v, %v", left, err)
	}
	if _, alive := probe.Find(known.Process.Pid); !alive {
		t.Error("a worker in use was ended")
	}
	if err := Sweep(filepath.Join(dir, "none"), nil); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

// TestScratchRoot: intermediate data is on the disk of the folder for temporary files, and where neither rm -rf $TMPDIR/*
// nor another user's folder is in the way.
func TestScratchRoot(t *testing.T) {
	temporary, state := t.TempDir(), t.TempDir()
	hidden := filepath.Join(temporary, fmt.Sprintf(".berth-%d", os.Getuid()))
	for _, c := range []struct {
		others []string
		want   string
	}{
		{[]string{state + "/scratch", "/var/tmp/x"}, state + "/scratch"},
		{[]string{"/proc/scratch", state + "/x"}, state + "/x"}, // another file system
		{[]string{"/proc/scratch", state + "/none/x"}, hidden},  // no folder
	} {
		if got := scratchRoot(temporary, c.others...); got != c.want {
			t.Errorf("%v: %s, want %s", c.others, got, c.want)
		}
	}
}

// TestRemovedFiles: a worker is started although the file of the program, the keys or the whole folder of its allocation were
// removed since the coordinator began.
func TestRemovedFiles(t *testing.T) {
	issued := 0
	issue := func(_ job.NodeID, path string) error {
		issued++
		return os.WriteFile(path, []byte("keys"), 0o600)
	}
	d := New(Options{Dir: t.TempDir(), Scratch: t.TempDir(), Machine: machine(), Setup: driver.Setup{Exe: "/none/berth", Issue: issue}})
	a := d.alloc("a1", job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 1}})
	for n, remove := range []string{a.dir, a.file(0, bundleEnd), ""} {
		if err := os.RemoveAll(remove); err != nil {
			t.Fatal(err)
		}
		cmd, err := d.start(a, 0)
		if err != nil {
			t.Fatalf("%s is removed: %v", remove, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if issued != min(n+1, 2) {
			t.Errorf("%s is removed: keys were written %d times", remove, issued)
		}
	}
}
