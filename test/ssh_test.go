package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/test/support/sshtest"
)

// newHosts is a world with hosts that ssh reaches.
func newHosts(t *testing.T, n int) (*world, *sshtest.Hosts) {
	t.Helper()
	w := newWorld(t)
	h := sshtest.Start(t, n)
	w.batch = []string{noBatch, "BERTH_SSH=" + h.Command}
	return w, h
}

// lines returns how many lines a file of the user's has, 0 where it is not there.
func (w *world) lines(name string) int {
	b, _ := os.ReadFile(filepath.Join(w.dir, name))
	return strings.Count(string(b), "\n")
}

// deserted waits until nothing runs on a host any more.
func deserted(w *world, h *sshtest.Hosts, n int) {
	w.t.Helper()
	w.await(fmt.Sprintf("nothing to run on h%d", n), func() bool { return len(h.Processes(n)) == 0 })
}

// TestSSHBag runs a bag on two hosts, one of which has a core for it.
func TestSSHBag(t *testing.T) {
	t.Parallel()
	w, h := newHosts(t, 2)
	r := w.must("bag", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-40", "--idle-timeout", "1s", "--", "sh", "-c", "echo $PPID >ran-{}; while [ $(cat ran-* | sort -u | wc -l) -lt 2 ]; do sleep 0.05; done")
	if !strings.Contains(r.stderr+r.stdout, "2 nodes") { // the tasks wait for each other, so that none has gone before the second host is up
		t.Errorf("%v", r)
	}
	by := map[string]int{}
	for i := range 40 {
		by[w.read(fmt.Sprintf("ran-%d", i+1))]++
	}
	if len(by) != 2 {
		t.Errorf("tasks ran on %d hosts", len(by))
	}
	for n := range 2 {
		if copies, _ := filepath.Glob(filepath.Join(h.Cache(n+1), "berth", "berth-*")); len(copies) != 1 {
			t.Errorf("h%d has copies %v", n+1, copies)
		}
		deserted(w, h, n+1)
		if keys, _ := filepath.Glob(filepath.Join(h.Cache(n+1), "berth", "keys", "*")); len(keys) > 0 {
			t.Errorf("keys stay on h%d: %v", n+1, keys)
		}
	}
}

// TestSSHMapReduce: a job over two hosts has the output of a local one, byte for byte.
func TestSSHMapReduce(t *testing.T) {
	t.Parallel()
	w, _ := newHosts(t, 2)
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

// TestSSHVanish: a host whose server and worker are killed in the middle comes back, and takes part again. What it did is not done twice.
func TestSSHVanish(t *testing.T) {
	t.Parallel()
	w, h := newHosts(t, 2)
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-6", "--", "sh", "-c", "echo {} >>began; while [ ! -e go ]; do sleep 0.05; done; echo $PPID >ran-{}")
	w.await("both hosts to run a task", func() bool { return w.lines("began") == 2 })
	h.Down(2)
	h.Up(2)
	w.await("the host to be back", func() bool { return w.lines("began") == 3 })
	if len(h.Processes(2)) == 0 {
		t.Error("nothing runs on the host that came back")
	}
	w.write("go", "")
	w.must("wait")
	if got := w.lines("began"); got != 7 {
		t.Errorf("%d attempts began, want one for each of 6 tasks, and one for the task that was lost", got)
	}
}

// TestSSHBadHosts: a host that is unknown and one with another key than before are told, and the job is done without them; where there is no other it is an error.
func TestSSHBadHosts(t *testing.T) {
	t.Parallel()
	w, h := newHosts(t, 2)
	h.ChangeKey(2)
	r := w.must("bag", "--on", "ssh", "--hosts", "1/h1,h2,nowhere.invalid", "--array", "1-4", "--", "true")
	for _, says := range []string{"host h2: ", "Host key verification failed", "host nowhere.invalid: ", "Could not resolve", "begins without it"} {
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

// TestSSHTakeover: a coordinator is killed; the workers go on, and tell the next one. When the job is over nothing is left on the hosts; nor
// where no coordinator comes and the processes that hold the workers are killed.
func TestSSHTakeover(t *testing.T) {
	t.Parallel()
	w, h := newHosts(t, 2)
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-4", "--idle-timeout", "1s", "--", "sh", "-c", "echo {} >>began; while [ ! -e go ]; do sleep 0.05; done")
	w.await("both hosts to run a task", func() bool { return w.lines("began") == 2 })
	workers := slices.Concat(h.Processes(1), h.Processes(2))
	w.killServer()
	w.must("status")
	w.write("go", "")
	w.must("wait")
	if got := w.lines("began"); got != 4 {
		t.Errorf("%d attempts of 4 tasks began after workers %v lost their coordinator", got, workers)
	}
	deserted(w, h, 1)
	deserted(w, h, 2)

	if err := os.Remove(filepath.Join(w.dir, "go")); err != nil {
		t.Fatal(err)
	}
	w.must("bag", "--detach", "--on", "ssh", "--hosts", "1/h1,1/h2", "--array", "1-4", "--", "sh", "-c", "echo {} >>second; while [ ! -e go ]; do sleep 0.05; done")
	w.await("both hosts to run a task", func() bool { return w.lines("second") == 2 })
	w.killServer()
	for _, pid := range w.berths("worker\x00") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	deserted(w, h, 1)
	deserted(w, h, 2)
}
