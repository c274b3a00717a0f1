package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/test/support/fleet"
)

// newHosts returns a world with hosts h1 and h2 that ssh reaches and that see all of its files.
func newHosts(t *testing.T) (w *world, h1, h2 *fleet.Host) {
	t.Helper()
	w = newWorld(t)
	f := fleet.ForTest(t, fleet.Options{Program: program}, fleet.Names(fleet.Machine{}, "h1", "h2")...)
	w.batch = []string{noBatch, "BERTH_SSH=" + f.Command}
	return w, f.Host("h1"), f.Host("h2")
}

// ok fails the test at once if an error occurred.
func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// lines returns the number of lines of a file of the user, or 0 if it does not exist.
func (w *world) lines(name string) int {
	b, _ := os.ReadFile(filepath.Join(w.dir, name))
	return strings.Count(string(b), "\n")
}

// deserted waits until no process of berth runs on a host.
func deserted(w *world, hosts ...*fleet.Host) {
	w.t.Helper()
	for _, h := range hosts {
		w.await("nothing to run on "+h.Name, func() bool { return len(h.Processes()) == 0 })
	}
}

// TestSSHBag runs a bag on two hosts, one of which offers one core.
func TestSSHBag(t *testing.T) {
	t.Parallel()
	w, h1, h2 := newHosts(t)
	w.ok(os.RemoveAll(h1.Programs())) // it is copied there
	r := w.must("bag", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-40", "--idle-timeout", "1s", "--", "sh", "-c", "echo $PPID >ran-{}; while [ $(cat ran-* | sort -u | wc -l) -lt 2 ]; do sleep 0.2; done")
	if !strings.Contains(r.stderr+r.stdout, "2 nodes") { // the tasks wait for each other, so that none has ended before the second host is up
		t.Errorf("%v", r)
	}
	by := map[string]int{}
	for i := range 40 {
		by[w.read(fmt.Sprintf("ran-%d", i+1))]++
	}
	if len(by) != 2 {
		t.Errorf("tasks ran on %d hosts", len(by))
	}
	for _, h := range []*fleet.Host{h1, h2} {
		if copies, _ := filepath.Glob(filepath.Join(h.Cache(), "berth", "berth-*")); len(copies) != 1 {
			t.Errorf("%s has copies %v", h.Name, copies)
		}
		deserted(w, h)
		if keys, _ := filepath.Glob(filepath.Join(h.Cache(), "berth", "keys", "*")); len(keys) > 0 {
			t.Errorf("keys stay on %s: %v", h.Name, keys)
		}
	}
}

// TestSSHMapReduce checks that a job on two hosts has the output of a local one, byte for byte.
func TestSSHMapReduce(t *testing.T) {
	t.Parallel()
	w, _, _ := newHosts(t)
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "word%d and %d\n", i%97, i)
	}
	w.write("in/a", text.String())
	w.write("in/b", text.String())
	args := []string{"mapreduce", "-input", "in", "-mapper", "tr ' ' '\\n'", "-reducer", "uniq -c", "-numReduceTasks", "2", "-D", "mapreduce.input.fileinputformat.split.maxsize=50000"}
	w.must(append(args, "-output", "here", "--on", "local")...)
	w.must(append(args, "-output", "there", "--on", "ssh", "--hosts", "1/h1,1/h2")...)
	for _, part := range []string{"part-00000", "part-00001"} {
		if here := w.read(filepath.Join("here", part)); here == "" || here != w.read(filepath.Join("there", part)) {
			t.Errorf("%s differs from that of a local run, or is empty", part)
		}
	}
}

// TestSSHVanish kills a host's server and worker in the middle of a job. The host comes back and runs tasks again. Tasks that it completed are not run twice.
func TestSSHVanish(t *testing.T) {
	t.Parallel()
	w, _, h2 := newHosts(t)
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-6", "--", "sh", "-c", "echo {} >>began; while [ ! -e go ]; do sleep 0.2; done; echo $PPID >ran-{}")
	w.await("both hosts to run a task", func() bool { return w.lines("began") == 2 })
	h2.Down()
	w.ok(h2.Up())
	w.await("the host to be back", func() bool { return w.lines("began") == 3 })
	if len(h2.Processes()) == 0 {
		t.Error("nothing runs on the host that came back")
	}
	w.write("go", "")
	w.must("wait")
	if got := w.lines("began"); got != 7 {
		t.Errorf("%d attempts began, want one for each of 6 tasks, and one for the task that was lost", got)
	}
}

// TestSSHBadHosts checks that an unknown host and a host with a changed key are reported, and that the job is done without them. If no other host is left, it is an error.
func TestSSHBadHosts(t *testing.T) {
	t.Parallel()
	w, _, h2 := newHosts(t)
	w.ok(h2.ChangeKey())
	r := w.must("bag", "--on", "ssh", "--hosts", "1/h1,h2,nowhere.invalid", "--array", "1-4", "--", "true")
	for _, says := range []string{"host h2: ", "Host key verification failed", "host nowhere.invalid: ", "Could not resolve", "starts without it"} {
		if !strings.Contains(r.stderr, says) {
			t.Errorf("it does not say %q: %v", says, r)
		}
	}
	r = w.berth("bag", "--on", "ssh", "--hosts", "h2", "--", "echo", ":::", "a")
	if r.code != 255 || !strings.Contains(r.stderr, "no host can be used") || !strings.Contains(r.stderr, "log in once by hand") {
		t.Errorf("without any good host: %v", r)
	}
	if r = w.berth("bag", "--on", "ssh", "--", "echo", ":::", "a"); r.code != 255 || !strings.Contains(r.stderr, "--hosts") {
		t.Errorf("without hosts: %v", r)
	}
}

// TestSSHTakeover kills a coordinator. The workers continue and report to the next one. When the job has ended, nothing is left on the hosts, and the same holds
// if no coordinator comes and the processes that hold the workers are killed.
func TestSSHTakeover(t *testing.T) {
	t.Parallel()
	w, h1, h2 := newHosts(t)
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-4", "--idle-timeout", "1s", "--", "sh", "-c", "echo {} >>began; while [ ! -e go ]; do sleep 0.2; done")
	w.await("both hosts to run a task", func() bool { return w.lines("began") == 2 })
	workers := slices.Concat(h1.Processes(), h2.Processes())
	w.killServer()
	w.must("status")
	w.write("go", "")
	w.must("wait")
	if got := w.lines("began"); got != 4 {
		t.Errorf("%d attempts of 4 tasks began after workers %v lost their coordinator", got, workers)
	}
	deserted(w, h1, h2)

	if err := os.Remove(filepath.Join(w.dir, "go")); err != nil {
		t.Fatal(err)
	}
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-4", "--", "sh", "-c", "echo {} >>second; while [ ! -e go ]; do sleep 0.2; done")
	w.await("both hosts to run a task", func() bool { return w.lines("second") == 2 })
	w.killServer()
	for _, pid := range w.berths("worker\x00") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	deserted(w, h1, h2)
}
