package test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// killServer kills the world's coordinator and waits until it is gone.
func (w *world) killServer() {
	w.t.Helper()
	killed := w.berths(coordinatorRole)
	for _, pid := range killed {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.await("the coordinator to be gone", func() bool { // a command that watches may have started the next one already
		return !slices.ContainsFunc(w.berths(coordinatorRole), func(pid int) bool { return slices.Contains(killed, pid) })
	})
}

// TestDamagedJournal flips a byte in the first record of one job's journal while no
// coordinator runs. That job is refused with the place of the damage; other jobs continue and new ones run.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n")
	for range 2 {
		w.must("bag", "--detach", "--array", "1-3", "--", "./task.sh")
	}
	bad, good := w.jobs()[0], string(w.jobs()[1])
	w.await("the first tasks to run", func() bool { return len(w.tryRecords(bad)) >= 3 })
	w.killServer()
	journal := w.home().Run(bad).Journal()
	flipFirst(t, journal)

	refused := func(args ...string) {
		t.Helper()
		r := w.berth(append(args, string(bad))...)
		if r.code == 0 || !strings.Contains(r.stderr, journal) || !strings.Contains(r.stderr, "byte") {
			t.Errorf("berth %s: want the journal and the place of the damage: %v", args, r)
		}
	}
	refused("report")
	w.write("go", "")
	w.must("wait", good)
	w.must("bag", "--", "echo", ":::", "new")
	for _, command := range []string{"report", "explain", "progress", "wait", "cancel", "resume", "close"} {
		refused(command)
	}
	r := w.must("status")
	if !strings.Contains(r.stdout, "damaged") || strings.Count(r.stdout, "done") != 2 || !strings.Contains(r.stderr, journal) {
		t.Errorf("status: %v", r)
	}
}

// TestTornTail truncates a journal inside its last record, as a machine that loses power
// may do. The job continues, and no task that is recorded as done runs again.
func TestTornTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\n[ $1 = 1 ] || while [ ! -e go ]; do sleep 0.2; done\necho $1 >>ran\n")
	w.must("bag", "--detach", "--array", "1-3%2", "--", "./task.sh", "{}") // the third begins when the first is done: that is the last record
	id := w.jobs()[0]
	w.await("a task to be done", func() bool { return strings.Contains(w.must("progress", "--json").stdout, `"tasks_done":1`) })
	w.killServer()
	journal := w.home().Run(id).Journal()
	st, err := os.Stat(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(journal, st.Size()-3); err != nil {
		t.Fatal(err)
	}
	w.write("go", "")
	w.must("wait")
	if got := strings.Count(w.read("ran"), "1\n"); got != 1 {
		t.Errorf("task 1 ran %d times", got)
	}
}

// TestDeletedRun deletes run folders, completely and in part, with and without a
// coordinator. Commands report what is missing, and other jobs work.
func TestDeletedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.must("bag", "--", "echo", ":::", "x")
	}
	ids := w.jobs()
	if err := os.RemoveAll(w.home().Run(ids[0]).Dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"summary.json", "tasks"} {
		if err := os.Remove(filepath.Join(w.home().Run(ids[1]).Dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	w.killServer()
	if r := w.berth("wait", string(ids[0])); r.code != 255 || !strings.Contains(r.stderr, "no job") {
		t.Errorf("a job whose folder is gone: %v", r)
	}
	if r := w.berth("wait", string(ids[1])); r.code == 0 || !strings.Contains(r.stderr, "tasks") {
		t.Errorf("a job without its task table: %v", r)
	}
	w.must("wait", string(ids[2]))
	r := w.must("status")
	if strings.Contains(r.stdout, string(ids[0])) || !strings.Contains(r.stdout, "damaged") {
		t.Errorf("status: %v", r)
	}
	w.must("bag", "--", "echo", ":::", "new")
}

// TestDamagedServerJournal damages the journal of nodes and allocations. The
// coordinator refuses to start and reports the place of the damage. Once the journal is moved away, jobs continue, and
// workers of unknown allocations are ended.
func TestDamagedServerJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--detach", "--array", "1-3", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.2; done; echo $BERTH_TASK_ID >>ran")
	id := w.jobs()[0]
	w.await("tasks to run", func() bool { return len(w.tryRecords(id)) >= 2 })
	orphans := w.workers()
	w.killServer()
	flipFirst(t, w.home().Journal())
	if r := w.berth("wait"); r.code != 255 || !strings.Contains(r.stderr, w.home().Journal()) || !strings.Contains(r.stderr, "byte") {
		t.Errorf("a damaged journal of the server: %v", r)
	}
	w.must("status")
	if err := os.Rename(w.home().Journal(), w.home().Journal()+".bad"); err != nil {
		t.Fatal(err)
	}
	w.must("server", "start")
	w.await("the forgotten workers to end", func() bool {
		return !slices.ContainsFunc(orphans, func(pid int) bool { return w.isBerth(pid, "worker\x00") })
	})
	w.write("go", "")
	w.must("wait")
	if got := strings.Count(w.read("ran"), "\n"); got != 3 {
		t.Errorf("tasks came to their end %d times, want 3", got)
	}
}

// TestManyClients runs commands at once that start, find and lose coordinators. All their jobs are done.
func TestManyClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := newRand(11)
	for range 5 {
		var clients []*running
		for range 4 {
			clients = append(clients, w.start("bag", "--stdout", "none", "--stderr", "none", "--", "true", ":::", "a", "b"))
		}
		if rng.IntN(2) == 0 {
			w.killServer()
		} else {
			w.must("server", "stop", "--force")
		}
		for _, c := range clients {
			if r := w.finish(c); r.code != 0 {
				t.Errorf("a client: %v", r)
			}
		}
		w.must("server", "stop", "--force")
	}
	if r := w.must("status", "--all"); strings.Count(r.stdout, "done") != 20 {
		t.Errorf("status: %v", r)
	}
}

// TestEndIsThere: when the command of a job ends, however the job ended, its summary is there and says so, and whoever reads the history
// finds the run. If the coordinator is killed at this moment, the next one brings the run into the history.
func TestEndIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "a\n")
	mapreduce := func(out, mapper string) []string {
		return []string{"mapreduce", "-input", "in.txt", "-output", out, "-mapper", mapper, "-reducer", "cat"}
	}
	type end struct {
		killed bool
		state  event.State
		args   []string
	}
	var ends []end
	for _, killed := range []bool{false, true} {
		out := fmt.Sprint("out", killed)
		ends = append(ends, end{killed, event.StateDone, []string{"bag", "--", "true", ":::", "x"}},
			end{killed, event.StateFailed, []string{"bag", "--retries", "0", "--", "false", ":::", "x"}},
			end{killed, event.StateCancelled, []string{"bag", "--", "sleep", ":::", "1000"}},
			end{killed, event.StateDone, mapreduce(out, "cat")},
			end{killed, event.StateFailed, append(mapreduce(out+"not", "false"), "-D", "mapreduce.map.maxattempts=1")})
	}
	for n, e := range ends {
		r := w.start(e.args...)
		id := w.submitted(r, n)
		if e.state == event.StateCancelled {
			w.reach(id, 1)
			w.must("cancel", string(id))
		}
		res := w.finish(r)
		if v, ok := w.ended(id); !ok || v.State != e.state {
			t.Fatalf("the summary of %s, which is %s, is there: %v, and says %q: %v", strings.Join(e.args, " "), e.state, ok, v.State, res)
		}
		if !e.killed {
			if got := w.inHistory(id); got != string(e.state) {
				t.Errorf("%s is %s, and %q in the history", strings.Join(e.args, " "), e.state, got)
			}
			continue
		}
		w.killServer()
		w.must("server", "start")
		w.await("the run to be in the history", func() bool { return w.inHistory(id) == string(e.state) })
	}
}

// inHistory returns how a job has ended by the history, or nothing if it is not there.
func (w *world) inHistory(id job.ID) (state string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.home().Database()+"?_pragma=busy_timeout(60000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow(`SELECT state FROM runs WHERE id = ?`, id).Scan(&state); err != nil && !errors.Is(err, sql.ErrNoRows) {
		w.t.Fatal(err)
	}
	return state
}

// TestNeverHandedIn checks that a job whose command died before a coordinator had the job can be
// submitted by a resume, or cancelled, which removes it.
func TestNeverHandedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "a\n")
	w.must("bag", "--", "echo", ":::", "x")
	w.must("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", "NONE")
	w.killServer()
	for _, id := range w.jobs() {
		for _, f := range []string{w.home().Run(id).Journal(), w.home().Run(id).Summary()} {
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) { // the coordinator was killed before it wrote the last summary
				t.Fatal(err)
			}
		}
	}
	if r := w.must("status"); strings.Count(r.stdout, "interrupted") != 2 {
		t.Errorf("status: %v", r)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "bag-1")); err != nil {
		t.Fatal(err)
	}
	w.must("resume", "bag-1")
	if got := w.read("bag-1/1.stdout"); got != "x\n" {
		t.Errorf("output %q", got)
	}
	w.must("cancel", "mr-2")
	if r := w.must("status"); strings.Contains(r.stdout, "mr-2") {
		t.Errorf("status: %v", r)
	}
}
