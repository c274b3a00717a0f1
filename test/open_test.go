package test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestOpenBag: tasks are added in all ways while a bag is open, some of them after others, and the bag ends when it is closed.
func TestOpenBag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out := w.must("bag", "--open", "--json", "--", "echo", "entry", "{}").stdout; out != `{"id":"bag-1"}`+"\n" {
		t.Fatalf("bag --open printed %q", out)
	}
	if out := w.must("add", "bag-1", ":::", "x\xffy", "z").stdout; out != "tasks 1 to 2 were added to bag-1\n" {
		t.Errorf("add printed %q", out)
	}
	w.write("tasks", `{"name":"a","command":["sh","-c","echo $X in $(basename $PWD)"],"env":{"X":"42"},"dir":"sub","stdout":"a.txt"}
{"name":"b","command":"cat sub/a.txt","after":["a"]}

{"name":"c","command":"exit 3"}
{"name":"d","entry":"never","after":["c", 0]}
`)
	w.write("sub/there", "")
	add := []string{"add", "1", "--tasks", "tasks", "--once", "k", "--json"}
	for range 2 { // the second call adds nothing
		if out := w.must(add...).stdout; out != `{"added":[2,3,4,5]}`+"\n" {
			t.Errorf("add --tasks printed %q", out)
		}
	}
	for line, says := range map[string]string{
		`{"nam":"x"}`:                       `standard input:1: a task has no key "nam"; did you mean "name"?`,
		`{"name":"a"}`:                      `standard input:1: name: the bag has a task named "a" already`,
		"\n" + `{"after":["y"]}`:            `standard input:2: after: the bag has no task named "y"`,
		`{"cpus":9999}`:                     `standard input:1: the task needs 9,999 cores`,
		`{"name":"m","after":["m"]}` + "\n": `the task would have to be done before itself`,
	} {
		cmd := w.command("add", "bag-1", "--tasks", "-")
		cmd.Stdin = strings.NewReader(line)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
	w.must("close", "bag-1")
	if r := w.berth("add", "bag-1", ":::", "late"); r.code == 0 || !strings.Contains(r.stderr, "bag-1") {
		t.Errorf("a closed bag took a task: %v", r)
	}
	if r := w.berth("wait", "bag-1"); r.code != 2 {
		t.Errorf("two tasks have failed: %v", r)
	}
	if out := w.must("cat", "bag-1").stdout; out != "entry x\xffy\nentry z\n42 in sub\n42 in sub\n" {
		t.Errorf("the tasks printed %q", out)
	}
	if out := w.must("cat", "bag-1", "b").stdout; out != "42 in sub\n" || w.read("sub/a.txt") != out {
		t.Errorf("task b printed %q", out)
	}
	all := w.must("watch", "bag-1").stdout
	for _, line := range []string{" queued", "task a is done after", "task c failed and is not started again: exit status 3",
		"task d is skipped: task c, which it comes after, has failed", "the job is failed: 2 of 6 tasks failed"} {
		if !strings.Contains(all, line) {
			t.Errorf("watch does not say %q:\n%s", line, all)
		}
	}
	all = w.must("watch", "bag-1", "--json").stdout
	if some := w.must("watch", "bag-1", "--from", "6", "--json").stdout; !strings.HasSuffix(all, some) || strings.Count(some, "\n") != strings.Count(all, "\n")-6 {
		t.Errorf("from line 6 on, watch says\n%s", some)
	}
	w.must("bag", "--open", "--", "echo")
	feeder := w.lockFeeder("bag-2")
	w.must("add", "bag-2", ":::", "x")
	if err := feeder.Close(); err != nil { // as the kernel does for a program that is killed
		t.Fatal(err)
	}
	w.must("wait", "bag-2")
}

// lockFeeder locks the file of an open bag by which the coordinator knows that a program may add tasks.
func (w *world) lockFeeder(id string) *os.File {
	w.t.Helper()
	folder := filepath.Join(w.root, "state", "berth", "runs", id)
	host, err := os.Hostname()
	f, errCreate := os.Create(filepath.Join(folder, ".feeder"))
	if err = errors.Join(err, errCreate); err != nil {
		w.t.Fatal(err)
	}
	_, err = f.WriteString(host)
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	if err := cmp.Or(err, unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lk), os.Rename(f.Name(), filepath.Join(folder, "feeder"))); err != nil {
		w.t.Fatal(err)
	}
	return f
}

const (
	feeders  = 2  // clients that add tasks
	together = 25 // tasks of a call
)

// differentNeeds are what tasks of an open bag have of their own.
var differentNeeds = [...]string{``, `,"mem":"64M"`, `,"mem":"150M"`, `,"mem":"64M","time":"1h"`, `,"retries":2`}

// faultCalls returns how many calls each client makes: for BERTH_FAULT_TASKS tasks in all, or for as many as suit a test run.
func faultCalls(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("BERTH_FAULT_TASKS"), "250"))
	if err != nil {
		t.Fatalf("BERTH_FAULT_TASKS: %v", err)
	}
	return max(1, n/(feeders*together))
}

// TestCancelTasks: tasks of an open bag are cancelled alone, one that runs and one that waits, and by number and by name. What one has
// printed stays, what comes after it is given up, the bag takes further tasks, and resume --failed runs all of them again. The states are told
// while the bag runs and when it is over and its coordinator gone.
func TestCancelTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--open", "-c", "1", "--throttle", "1", "--", "sh", "-c", "{}")
	w.write("tasks", `{"command":["sh","-c","echo begun; touch runs; test -e again || sleep 600"]}
{"name":"waits","command":"true"}
{"name":"behind","command":"true","after":["waits"]}
`)
	w.must("add", "bag-1", "--tasks", "tasks")
	w.await("the first task to run", func() bool { _, err := os.Stat(filepath.Join(w.dir, "runs")); return err == nil })
	states := func(want string) {
		t.Helper()
		if got := strings.Fields(w.must("status", "bag-1", "1", "waits", "behind").stdout); strings.Join(got, " ") != want {
			t.Errorf("the tasks are %v, want %s", got, want)
		}
	}
	states("running waiting waiting")
	if r := w.berth("cancel", "bag-1", "--task", "none"); r.code == 0 || !strings.Contains(r.stderr, "it has no task none") {
		t.Error(r)
	}
	if got := w.must("cancel", "bag-1", "--task", "waits", "--task", "1").stdout; got != "cancelled\ncancelled\n" {
		t.Errorf("printed %q", got)
	}
	states("cancelled cancelled failed")
	w.must("add", "bag-1", ":::", "echo on")
	w.must("close", "bag-1")
	if r := w.berth("wait", "bag-1"); r.code != 3 {
		t.Errorf("three tasks are not done: %v", r)
	}
	if got := w.must("cat", "bag-1").stdout; got != "begun\non\n" {
		t.Errorf("the tasks printed %q", got)
	}
	w.killServer()
	states("cancelled cancelled failed")
	w.write("again", "")
	w.must("resume", "bag-1", "--failed")
	w.must("wait", "bag-1")
	states("done done done")
}

// TestStatusGoesOn: whoever asks for the state of a task again and again sees its end, also if the coordinator was killed meanwhile.
func TestStatusGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--detach", "--", "sh", "-c", "{}", ":::", "touch runs; until test -e gate; do sleep 0.1; done")
	w.await("the task to run", func() bool { _, err := os.Stat(filepath.Join(w.dir, "runs")); return err == nil })
	w.killServer()
	w.write("gate", "")
	w.await("the task to be done", func() bool { return w.must("status", "bag-1", "1").stdout == "done\n" })
}

// TestFaultOpen: two clients add tasks of five different needs while they, the coordinator, workers and a command that watches are killed. Each task is there
// once and done once, and the lines of watch have no gap and nothing twice.
func TestFaultOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, seed := range w.seeded(t, faultRounds(t, 4)) {
		w.feedAndKill(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (w *world) feedAndKill(t *testing.T, seed uint64) {
	calls := faultCalls(t)
	tasks := feeders * calls * together
	w.must("bag", "--open", "--workers", "2", "--", "echo")
	id := w.jobs()[len(w.jobs())-1]
	watcher := &watching{w: w, id: id, tasks: tasks, rng: rand.New(rand.NewPCG(seed, 1))}
	var all sync.WaitGroup
	all.Go(watcher.run)
	var feeding sync.WaitGroup
	for client := range feeders {
		feeding.Go(func() { w.feed(id, client, calls, rand.New(rand.NewPCG(seed, uint64(client)+2))) })
	}
	rng := rand.New(rand.NewPCG(seed, seed))
	all.Go(func() {
		for range 1 + rng.IntN(3) {
			if w.until(id, w.entries(rng.IntN(3*tasks))) {
				w.kill(victims[rng.IntN(len(victims))], rng)
			}
		}
	})
	feeding.Wait()
	w.must("close", string(id))
	w.must("wait", string(id))
	all.Wait()
	checkOnce(t, w.records(id))
	watcher.check(t)
	if n := strings.Count(w.must("cat", string(id)).stdout, "\n"); n != tasks {
		t.Errorf("the tasks printed %d lines", n)
	}
}

// feed adds the tasks of one client. Commands that are killed or fail are repeated.
func (w *world) feed(id job.ID, client, calls int, rng *rand.Rand) {
	for call := range calls {
		var lines strings.Builder
		for i := range together {
			name, after := fmt.Sprintf("%d-%d-%d", client, call, i), "[]"
			if i > 0 && rng.IntN(3) == 0 {
				after = fmt.Sprintf(`["%d-%d-%d"]`, client, call, rng.IntN(i))
			}
			fmt.Fprintf(&lines, `{"name":%q,"command":["echo",%q],"after":%s%s}`+"\n", name, name, after, differentNeeds[rng.IntN(len(differentNeeds))])
		}
		for {
			cmd := w.command("add", string(id), "--tasks", "-", "--once", fmt.Sprint(client, call))
			cmd.Stdin = strings.NewReader(lines.String())
			if err := cmd.Start(); err != nil {
				w.t.Error(err)
				return
			}
			if rng.IntN(4) == 0 {
				_ = cmd.Process.Signal(syscall.SIGKILL)
			}
			if cmd.Wait() == nil {
				break
			}
		}
	}
}

// watching is a client that reads the events of a job, and is killed and goes on.
type watching struct {
	w     *world
	id    job.ID
	rng   *rand.Rand
	tasks int // that the job will have had
	seen  []report.Event
}

func (c *watching) run() {
	for len(c.seen) == 0 || c.seen[len(c.seen)-1].Event != "over" {
		cmd := c.w.command("watch", string(c.id), "--json", "--from", fmt.Sprint(len(c.seen)))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			c.w.t.Error(err)
			return
		}
		left := c.rng.IntN(c.tasks)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e report.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				break // the command was killed while it wrote the line
			}
			c.seen = append(c.seen, e)
			if left--; left == 0 {
				_ = cmd.Process.Kill()
				break
			}
		}
		_ = cmd.Wait() // it may have been killed
	}
}

func (c *watching) check(t *testing.T) {
	queued, over := make(map[string]int), make(map[string]int)
	for i, e := range c.seen {
		switch {
		case e.Seq != int64(i):
			t.Fatalf("line %d has the number %d", i, e.Seq)
		case e.Event == "queued":
			queued[e.Name]++
		case e.Final && e.Outcome == "done":
			over[e.Name]++
		}
	}
	if len(queued) != c.tasks || len(over) != c.tasks {
		t.Errorf("%d tasks were queued and %d done, want %d", len(queued), len(over), c.tasks)
	}
	for name, n := range queued {
		if n != 1 || over[name] != 1 {
			t.Errorf("task %s was queued %d times and done %d times", name, n, over[name])
		}
	}
}

// TestNeeds: tasks of a bag have what their columns or lines say, which status tells; one that fits no node is refused by its line, and
// nothing of that call is added.
func TestNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("t.csv", "name,memory,limit\na,100M,\nb,,1h\nc,70M,2h\n")
	columns := []string{"--colsep", ",", "--each-line", "t.csv", "--mem-from", "memory", "--time-from", "3"}
	w.must(append(append([]string{"bag", "--mem", "50M"}, columns...), "--", "echo", "{1}")...)
	if out := w.must("cat", "bag-1").stdout; out != "a\nb\nc\n" {
		t.Errorf("the tasks printed %q", out)
	}
	w.must("bag", "--open", "--", "echo", "{1}")
	w.must(append([]string{"add", "bag-2"}, columns...)...)
	w.write("lines", `{"command":"echo d","mem":"60M","retries":1}`+"\n"+`{"command":"exit 9","retries":2}`+"\n")
	w.must("add", "bag-2", "--tasks", "lines")
	w.write("wrong", `{"command":"echo e"}`+"\n"+`{"command":"echo f","mem":"100T"}`+"\n")
	if r := w.berth("add", "bag-2", "--tasks", "wrong"); r.code == 0 || !strings.HasPrefix(r.stderr, "berth: wrong:2: the task needs 1 core and 100T, and the largest node has ") || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("a task that fits no node: %v", r)
	}
	w.must("close", "bag-2")
	if r := w.berth("wait", "bag-2"); r.code != 1 || !strings.Contains(r.stderr, "attempt 3, the last") {
		t.Errorf("one task fails three times: %v", r)
	}
	for id, want := range map[string]string{"bag-1": "100M 50M 70M", "bag-2": "100M 0B 70M 60M 0B"} {
		var v report.JobStatus
		if err := json.Unmarshal([]byte(w.must("status", id, "--json").stdout), &v); err != nil {
			t.Fatal(err)
		}
		var mems []string
		for _, task := range v.Tasks {
			mems = append(mems, job.FormatSize(task.Mem))
		}
		if got := strings.Join(mems, " "); got != want || v.ID != job.ID(id) {
			t.Errorf("the tasks of %s need %s of memory, want %s", v.ID, got, want)
		}
	}
	w.write("big.csv", "name,memory\na,100T\n")
	if r := w.berth("bag", "--colsep", ",", "--each-line", "big.csv", "--mem-from", "memory", "--", "echo"); r.code == 0 || !strings.Contains(r.stderr, "entry 1: the task needs 1 core and 100T") {
		t.Errorf("an entry that fits no node: %v", r)
	}
}

// TestCompletionsOfJobs: the shell offers for berth add and close the bags that are open, for cancel the jobs that are not over, else all.
func TestCompletionsOfJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--", "true", ":::", "a")
	w.must("bag", "--open", "--", "true")
	w.must("bag", "--detach", "--", "until [ -e go ]; do sleep 0.1; done; echo {}", ":::", "a")
	for command, want := range map[string]string{"add": "bag-2", "close": "bag-2", "cancel": "bag-3 bag-2", "wait bag-2": "bag-3 bag-1", "report": "bag-3 bag-2 bag-1"} {
		words, _, _ := strings.Cut(w.must(append(append([]string{"__complete"}, strings.Fields(command)...), "")...).stdout, "\n:")
		if got := strings.Join(strings.Fields(words), " "); got != want {
			t.Errorf("for %s the shell offers %q, want %q", command, got, want)
		}
	}
	w.must("cancel", "bag-2", "bag-3")
}
