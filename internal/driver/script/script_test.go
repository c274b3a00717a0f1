package script

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/node/worker"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
	"berth/test/support/batchtest"
	"berth/test/support/drivertest"
)

// TestMain makes the test program the worker that jobs start.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		os.Exit(beWorker(os.Args[3]))
	}
	os.Exit(m.Run())
}

func beWorker(config string) int {
	var c wire.WorkerConfig
	err := statedir.ReadJSON(config, &c)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		err = worker.Run(ctx, worker.Config{WorkerConfig: c, MaxOrphan: time.Minute, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	}
	if err != nil {
		slog.Error("worker failed", "err", err)
		return 1
	}
	return 0
}

// fake is a scheduler of four scripts, whose state is a folder.
type fake struct{ scripts, state string }

func newFake(t *testing.T) fake {
	t.Helper()
	f := fake{filepath.Join(t.TempDir(), "fake"), t.TempDir()}
	program, err := filepath.Abs("testdata/fake.py")
	if err == nil {
		err = os.Mkdir(f.scripts, 0o700)
	}
	for _, name := range []string{"snapshot", "submit", "status", "cancel"} {
		err = errors.Join(err, os.Symlink(program, filepath.Join(f.scripts, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.end)
	return f
}

// end ends all jobs and waits until they write nothing any more.
func (f fake) end() {
	jobs, _ := filepath.Glob(filepath.Join(f.state, "*", "job"))
	for _, j := range jobs {
		_ = os.WriteFile(filepath.Join(filepath.Dir(j), "cancel"), []byte("it was cancelled"), 0o600) // if it fails the test's folder cannot be removed either
	}
	for _, j := range jobs {
		for late := time.Now().Add(5 * time.Minute); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(j), "end")); err == nil {
				break
			}
		}
	}
}

// Env has the system's python3 first, as that of pyenv is a slow script.
func (f fake) Env() []string {
	return []string{DirVar + "=" + f.scripts, "FAKE_STATE=" + f.state, "PATH=/usr/bin:" + os.Getenv("PATH")}
}

func (f fake) open([]string) batch.System { return Open(append(os.Environ(), f.Env()...)) }

func (f fake) Cancel(tb testing.TB, id string) {
	tb.Helper()
	if err := f.open(nil).Cancel(context.Background(), id, false); err != nil {
		tb.Fatal(err)
	}
}

func (f fake) Alive(tb testing.TB, id string) bool {
	tb.Helper()
	all, err := f.open(nil).Jobs(context.Background(), []batch.Job{{ID: id}})
	if err != nil {
		tb.Fatal(err)
	}
	return all[id].Phase != batch.Gone && all[id].Phase != batch.Over
}

// poll is the time between polls: starting python3 takes some 50 ms of a core.
const poll = time.Second

var share = job.Resources{CPUs: 1, Mem: 500 << 20}

// TestDriver runs the conformance suite of all drivers with four scripts and real workers.
func TestDriver(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, drivertest.Backend{Name: Name, Node: share, WallTime: 3 * time.Second, Patience: 5 * time.Minute, Batch: true}, func(t *testing.T, s drivertest.Setup) driver.Driver {
		return batch.New(batch.Options{Setup: driver.Setup{Exe: exe, Env: []string{}, Issue: s.Issue, Report: s.Report, Now: batchtest.Now, Wall: batchtest.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
			System: f.open, Dir: s.Dir, Scratch: t.TempDir(), Poll: poll, RetryFirst: 100 * time.Millisecond, RetryMax: time.Second})
	})
}

// TestBatch runs the tests of all batch systems.
func TestBatch(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	batchtest.Run(t, batchtest.System{Open: f.open, Share: share, Poll: poll}, f)
}

// written returns the scheduler whose scripts have these texts, by their names.
func written(t *testing.T, texts map[string]string) *System {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return Open(append(os.Environ(), DirVar+"="+dir))
}

// TestErrors: what a script does wrong is told in one line, with its class.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text  string
		class job.Class
		kind  error
		says  string
	}{
		{"echo first >&2; echo no such queue >&2; exit 1", job.User, nil, "no such queue"},
		{"exit 3", job.User, nil, "it ended with status 3 without a message"},
		{"echo away >&2; exit 69", job.Transient, batch.ErrAway, "away"},
		{"echo full >&2; exit 75", job.Transient, batch.ErrLater, "full"},
		{"echo oops", job.User, nil, "not understood at byte 1: invalid character 'o'"},
		{`echo '{"nodes": 5}'`, job.User, nil, "not understood at byte 11: cannot unmarshal number"},
		{`echo '{"nodse": []}'`, job.User, nil, `unknown field "nodse"`},
		{`echo '{} {}'`, job.User, nil, "there is more than one value"},
		{`echo '{"free_nodes": 1'`, job.User, nil, "unexpected EOF"},
		{":", job.User, nil, "it printed nothing"},
		{`echo '{}'`, job.User, nil, "it names no nodes"},
		{`echo '{"free_nodes": 2}'`, job.User, nil, `nodes[0] needs a name, cpus and mem_bytes`},
		{`echo '{"free_nodes": 2, "per_node": {"cpus": 1, "mem_bytes": 1}, "queue": {"running": [{"id": "1", "nodes": [2]}]}}'`, job.User, nil, "queue.running[0] names node 2 of 2"},
	} {
		s := written(t, map[string]string{"snapshot": c.text})
		_, err := s.Snapshot(t.Context(), "")
		if err == nil || job.ClassOf(err) != c.class || !errors.Is(err, c.kind) && c.kind != nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), s.path("snapshot")) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	s := written(t, map[string]string{"status": `echo '{"jobs": [{"id": "1", "state": "flying"}]}'`, "submit": "", "cancel": ""})
	if _, err := s.Jobs(t.Context(), []batch.Job{{ID: "1"}}); err == nil || !strings.Contains(err.Error(), `jobs[0] has the id "1" and the state "flying"`) {
		t.Errorf("a state that is none: %v", err)
	}
	if _, err := s.Find(t.Context(), "x"); job.ClassOf(err) != job.Transient || !errors.Is(err, batch.ErrUnsaid) {
		t.Errorf("it is not known whether the job is there: %v", err)
	}
	unavailable := func(says string) {
		t.Helper()
		if err := s.Available(t.Context()); says == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), says) || job.ClassOf(err) != job.User) {
			t.Errorf("it is not available because %v, want %q", err, says)
		}
	}
	unavailable("")
	err := os.Chmod(s.path("cancel"), 0o600)
	unavailable("cancel: it is not executable; chmod +x it")
	err = errors.Join(err, os.Remove(s.path("submit")))
	unavailable("submit: there is no such script; write it as docs/scripts.md says")
	err = errors.Join(err, os.RemoveAll(s.dir))
	unavailable("no folder of scripts is named ")
	if err != nil {
		t.Error(err)
	}
}

// TestHung: a script that hangs is given up with all that it has started.
func TestHung(t *testing.T) {
	held := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	s := written(t, map[string]string{"cancel": "exec 3>" + held + "; sleep 600 & wait"})
	hold, err := os.OpenFile(held, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.tools.Patience = time.Second
	if err := s.Cancel(t.Context(), "1", false); job.ClassOf(err) != job.Transient || !strings.Contains(err.Error(), "no answer within 1s") {
		t.Errorf("a script that hangs: %v", err)
	}
	defer func() { _ = hold.Close() }()
	one := make([]byte, 1)
	for { // the pipe ends when no process has it any more
		n, err := hold.Read(one)
		if n == 0 && err != nil {
			break
		}
	}
}

// TestSubmit: the id is what the script prints. Other outputs are kept from being taken for ids, and the second is a refusal.
func TestSubmit(t *testing.T) {
	for text, want := range map[string]string{`echo '{"id": "7.x"}'`: "7.x", "echo 'Job <7> is submitted'": "", "echo oops": "", "echo '{}'": "", ":": ""} {
		s := written(t, map[string]string{"submit": text})
		out, err := os.Create(filepath.Join(t.TempDir(), "job"))
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Submit(t.Context(), batch.Submission{Request: job.AllocRequest{Nodes: 1}, Script: "/s"}, out)
		noted, _ := os.ReadFile(out.Name())
		if id != want || s.JobID(string(noted)) != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, batch.ErrUnsaid) {
			t.Errorf("%s: %q, %v, noted %q", text, id, err, noted)
		}
	}
}

// TestLeast: a number of free nodes is enough, and without the script it is one like this machine.
func TestLeast(t *testing.T) {
	s := written(t, map[string]string{"snapshot": `cat >/dev/null; echo '{"free_nodes": 3, "per_node": {"cpus": 8, "mem_bytes": 1000}}'`})
	snap, err := s.Snapshot(t.Context(), "")
	if nodes, _ := snap.Usable(cluster.View{PerNode: job.Resources{CPUs: 8}}); err != nil || len(nodes) != 3 || snap.Nodes[2].Name != "free-3" || snap.Queue.ID == "" {
		t.Errorf("three free nodes: %+v, %v", snap, err)
	}
	if _, notes := s.Defaults(); len(notes) > 0 {
		t.Errorf("it notes %q", notes)
	}
	none := written(t, nil)
	if snap, err := none.Snapshot(t.Context(), ""); err != nil || len(snap.Nodes) != 1 || snap.Nodes[0].Capacity.CPUs == 0 {
		t.Errorf("without a script: %+v, %v", snap, err)
	}
	if _, notes := none.Defaults(); len(notes) != 1 || !strings.Contains(notes[0], "berth assumes one free node like this machine") {
		t.Errorf("it notes %q", notes)
	}
}

// FuzzSnapshot: no output of a script makes a snapshot that cannot be planned on.
func FuzzSnapshot(f *testing.F) {
	for _, text := range []string{
		`{"free_nodes": 3, "per_node": {"cpus": 8, "mem_bytes": 1000}}`,
		`{"nodes": [{"name": "a", "capacity": {"cpus": 2, "mem_bytes": 99}, "free": {"cpus": 1, "mem_bytes": 9}, "down": ""}], "queue": {"partitions": [{"name": "p", "default": true, "nodes": [0], "max_time_ns": 5}],
			"running": [{"id": "1", "count": 1, "nodes": [0], "per_node": {"cpus": 1}, "start_ns": 5, "limit_ns": 9}], "pending": [{"id": "2", "count": 1, "repeat": 3, "partition": "p", "rank": 2}],
			"reservations": [{"name": "r", "nodes": [0], "start_ns": 1, "end_ns": 5, "mine": true}], "rank": {"per_core": 1}, "depth": -1}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Open([]string{DirVar + "=/x"})
		var v view
		if s.decode("snapshot", text, &v) != nil || v.Free > 100 || len(v.Nodes) > 100 {
			return
		}
		snap, err := v.snapshot("x")
		if err != nil {
			return
		}
		snap.At = job.Time(1e18)
		for _, view := range []cluster.View{{PerNode: job.Resources{CPUs: 1}}, {PerNode: job.Resources{CPUs: 2, Mem: 5, GPUs: 1}, Whole: true, Partition: "p", Reservation: "r", Nodes: 2}} {
			if line, _ := snap.Timeline(view); line == nil {
				t.Error("no timeline")
			}
			snap.Overtaking(view, len(snap.Nodes))
		}
	})
}

// FuzzStatus: no output of status is taken for a state that does not exist.
func FuzzStatus(f *testing.F) {
	f.Add(`{"jobs": [{"id": "1", "script": "/a", "state": "over", "exit": 3}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := Open([]string{DirVar + "=/x"})
		var said struct {
			Jobs []answer `json:"jobs"`
		}
		if s.decode("status", text, &said) != nil {
			return
		}
		for _, a := range said.Jobs {
			if st := a.status(batch.Job{ID: a.ID, Output: "/none", Explain: true}); st.Phase < batch.Gone || st.Phase > batch.Odd {
				t.Errorf("phase %d", st.Phase)
			}
		}
		if id := s.JobID(text); strings.ContainsAny(id, "\n") {
			t.Errorf("an id of several lines: %q", id)
		}
	})
}
