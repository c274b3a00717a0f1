package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"berth/test/support/moto"
)

// newCloud returns a world with machines to rent, which see all of its files.
func newCloud(t *testing.T) (*world, *moto.Cloud) {
	t.Helper()
	w, c := newWorld(t), moto.Start(t, program)
	w.batch = append([]string{noBatch}, c.Env...)
	return w, c
}

// types is a catalogue whose machines may take a while to come up.
func (w *world) types(patience string) {
	w.write("types.toml", `patience = "`+patience+`"
image = "ami-12c6146b"
[[type]]
name = "small"
instance = "t3.small"
price = 0.1
spot_price = 0.04
cores = 1
mem = "1G"
task_time = "1s"
`)
}

// nothingRented waits until no machine is rented any more, and returns how many were rented.
func nothingRented(w *world, c *moto.Cloud) int {
	w.t.Helper()
	w.await("all machines to be given back", func() bool { _, live := c.Rented(); return len(live) == 0 })
	ever, _ := c.Rented()
	return ever
}

// TestRentedBag runs a bag on three rented machines. Afterwards neither machines nor keys are left.
func TestRentedBag(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	// The tasks wait for each other, so that none has ended before the third machine is up.
	r := w.must("bag", "--machines", "small=2,small:spot=1", "--catalogue", "types.toml", "--array", "1-30", "--idle-timeout", "1s", "--",
		"sh", "-c", "echo $PPID $AWS_SECRET_ACCESS_KEY >ran-{}; while [ $(cat ran-* | sort -u | wc -l) -lt 3 ]; do sleep 0.2; done")
	if !strings.Contains(r.stderr+r.stdout, "3 nodes") {
		t.Errorf("it does not tell of 3 nodes: %v", r)
	}
	by := map[string]int{}
	for i := range 30 {
		by[w.read(fmt.Sprintf("ran-%d", i+1))]++
	}
	if len(by) != 3 {
		t.Errorf("tasks ran by %v, not by 3 workers", by)
	}
	for line := range by {
		if strings.Contains(line, "secret") {
			t.Error("a rented machine was told the keys of the provider")
		}
	}
	if ever := nothingRented(w, c); ever != 3 || c.Calls("RunInstances") != 2 {
		t.Errorf("%d machines were rented by %d calls, want 3 by 2", ever, c.Calls("RunInstances"))
	}
	w.await("the keys to be removed", func() bool {
		left, _ := filepath.Glob(filepath.Join(w.home().Server(), "rented", "a*"))
		return len(left) == 0
	})
	if r := w.must("machines", "list"); !strings.Contains(r.stdout, "no machines are rented") {
		t.Errorf("%v", r)
	}
}

// TestRentedDeadline checks that further machines are rented for a bag that would end after its deadline.
func TestRentedDeadline(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.batch = append(w.batch, "BERTH_LOOK_EVERY=200ms")
	w.types("2m")
	w.write("types.toml", w.read("types.toml")+"limit = 2\nboot = \"1s\"\n")
	// The first tasks show that all would take half a minute; the others wait for a second worker.
	w.must("bag", "--machines", "small=1", "--catalogue", "types.toml", "--deadline", "2s", "--array", "1-30", "--idle-timeout", "1s", "--", "sh", "-c",
		"n=0; while [ {} -lt 4 ] && [ $n -lt 600000 ]; do n=$((n+1)); done; echo $PPID >ran-{}; while [ {} -gt 3 ] && [ $(cat ran-* | sort -u | wc -l) -lt 2 ]; do sleep 0.2; done")
	nothingRented(w, c)
	if r := w.must("report"); !strings.Contains(r.stdout, "rented") || !strings.Contains(r.stdout, "cost 0.0") {
		t.Errorf("the report does not say what the machines cost:\n%v", r)
	}
	log, err := os.ReadFile(w.home().ServerLog())
	if err != nil || !strings.Contains(string(log), "the deadline is 2s: with 1 more of small") {
		t.Errorf("the log does not say why a machine is rented: %v\n%s", err, log)
	}
}

// TestRentedApart checks that a bag on rented machines without the user's files leaves its outputs on the user's machine.
func TestRentedApart(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t), moto.StartApart(t, program)
	w.batch = append([]string{noBatch}, c.Env...)
	w.types("2m")
	for _, n := range []string{"a", "b", "c", "d"} {
		w.write("in/"+n, strings.Repeat("text of "+n+"\n", 20000))
	}
	args := []string{"bag", "--outputs", "out/{/}", "--stdout", "printed/{task}"}
	command := []string{"--", "sh", "-c", "mkdir -p out/{/}; tr a-z A-Z <{} >out/{/}/text; wc -l <{}", ":::", "in/a", "in/b", "in/c", "in/d"}
	w.must(append(append(args, "--on", "local"), command...)...)
	here := w.tree("out", "printed")
	for _, name := range []string{"out", "printed"} {
		w.ok(os.RemoveAll(filepath.Join(w.dir, name)))
	}
	w.must(append(append(args, "--machines", "small=2", "--catalogue", "types.toml", "--idle-timeout", "1s"), command...)...)
	if there := w.tree("out", "printed"); here != there || strings.Count(here, "\n") < 8 {
		t.Errorf("locally:\n%s\non rented machines:\n%s", here, there)
	}
	nothingRented(w, c)
}

// rentedBag submits a bag of tasks that wait for the file go, on n small machines. It returns when n of them run.
func (w *world) rentedBag(n int, args ...string) {
	w.t.Helper()
	all := append([]string{"bag", "--detach", "--machines", fmt.Sprintf("small=%d", n), "--catalogue", "types.toml", "--array", "1-6", "--idle-timeout", "1s"}, args...)
	w.must(append(all, "--", "sh", "-c", "echo {} >>began; while [ ! -e go ]; do sleep 0.2; done; echo {} >>done")...)
}

// TestRentedNeverUp checks that a machine that never answers is ended, and another one is rented.
func TestRentedNeverUp(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	c.Dead = func(nth int) bool { return nth == 1 }
	w.types("40s") // the other one must be up by then, also where each call to moto takes seconds
	w.rentedBag(2)
	w.await("both machines to run a task", func() bool { return w.lines("began") == 2 })
	w.write("go", "")
	w.must("wait")
	if ever := nothingRented(w, c); ever < 3 {
		t.Errorf("%d machines were rented, want one in the place of that which never came up", ever)
	}
}

// TestRentedLogin checks that explain has ssh's own words of a machine that lets nobody in.
func TestRentedLogin(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	c.Dead = func(int) bool { return true }
	w.write("denied", "#!/bin/sh\necho 'me@host: Permission denied (publickey).' >&2\nexit 255\n")
	w.ok(os.Chmod(filepath.Join(w.dir, "denied"), 0o700))
	w.batch = append(w.batch, "BERTH_SSH="+filepath.Join(w.dir, "denied"))
	w.types("10m")
	w.rentedBag(1)
	w.await("ssh's words in explain", func() bool {
		return strings.Contains(w.must("explain").stdout, "me@host: Permission denied (publickey).")
	})
	w.berth("cancel", "last") // it has failed if it was refused for a minute meanwhile
	nothingRented(w, c)
}

// TestRentedRefused checks that throttled calls are repeated, that the job runs on the available machines if not all are available, and that a quota that allows none fails the job.
func TestRentedRefused(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	n, code := 0, []string{"RequestLimitExceeded", "RequestLimitExceeded", "InsufficientInstanceCapacity"}
	var none atomic.Bool // the quota allows no machine
	c.Refuse = func(action string) string {
		switch {
		case action != "RunInstances":
			return ""
		case none.Load():
			return "VcpuLimitExceeded"
		case n == len(code):
			return ""
		}
		n++
		return code[n-1]
	}
	w.write("go", "")
	w.rentedBag(3)
	w.must("wait")
	if ever := nothingRented(w, c); ever != 1 || w.lines("done") != 6 { // moto rents the least that will do
		t.Errorf("%d machines were rented, %d tasks done; want 6 tasks on the one that was to be had", ever, w.lines("done"))
	}
	none.Store(true)
	r := w.berth("bag", "--machines", "small=3", "--catalogue", "types.toml", "--array", "1-2", "--", "true")
	if r.code == 0 || !strings.Contains(r.stderr, "quota") || !strings.Contains(r.stderr, "berth machines list") {
		t.Errorf("without any machine: %v", r)
	}
	nothingRented(w, c)
}

// TestRentedKill kills the coordinator when only the provider knows what was rented or ended. The next coordinator finds out: the
// job is done, nothing was rented twice, and no machine is left.
func TestRentedKill(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		action   string
		answered bool
	}{{"RunInstances", false}, {"RunInstances", true}, {"TerminateInstances", false}, {"TerminateInstances", true}} {
		t.Run(fmt.Sprintf("%s answered %v", at.action, at.answered), func(t *testing.T) {
			t.Parallel()
			w, c := newCloud(t)
			w.types("2m")
			var once sync.Once
			reached, killed := make(chan struct{}), make(chan struct{})
			c.Moment = func(action string, answered bool) {
				if action == at.action && answered == at.answered {
					once.Do(func() { close(reached); <-killed })
				}
			}
			w.write("go", "")
			w.rentedBag(2)
			<-reached
			w.killServer()
			close(killed)
			w.must("wait")
			w.must("status") // a coordinator may still have to end machines
			if ever := nothingRented(w, c); ever != 2 || w.lines("done") != 6 {
				t.Errorf("%d machines were rented, %d tasks done; want 2 and 6", ever, w.lines("done"))
			}
		})
	}
}

// TestRentedTaken ends a machine on the provider's side while a task runs. The task runs again on another machine.
func TestRentedTaken(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	w.rentedBag(2)
	w.await("both machines to run a task", func() bool { return w.lines("began") == 2 })
	_, live := c.Rented()
	c.TakeAway(live[0])
	w.await("the task to begin anew", func() bool { return w.lines("began") == 3 })
	w.write("go", "")
	w.must("wait")
	if ever := nothingRented(w, c); ever != 3 || w.lines("done") != 6 || w.lines("began") != 7 {
		t.Errorf("%d machines were rented, %d attempts began, %d tasks done; want 3, 7 and 6", ever, w.lines("began"), w.lines("done"))
	}
}

// TestRentedBudget checks that machines end before they cost more than the budget, and that the job says so.
func TestRentedBudget(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	w.write("types.toml", strings.Replace(w.read("types.toml"), "price = 0.1", "price = 3600", 1)) // 1 a second
	w.rentedBag(1, "--budget", "45")
	r := w.berth("wait")
	if r.code == 0 || !strings.Contains(r.stderr+r.stdout+w.must("status", "--all").stdout+w.must("report").stdout, "the budget of 45.00 is used up") {
		t.Errorf("%v", r)
	}
	if ever := nothingRented(w, c); ever != 1 {
		t.Errorf("%d machines were rented for a budget that one uses up", ever)
	}
	w.write("go", "")
	id := string(w.jobs()[0])
	if r = w.berth("resume", id); r.code == 0 || !strings.Contains(r.stderr+r.stdout, "used up") { // what was spent counts
		t.Errorf("resumed with the same budget: %v", r)
	}
	w.must("resume", id, "--budget", "1000")
	if ever := nothingRented(w, c); ever != 2 || w.lines("done") != 6 {
		t.Errorf("%d machines were rented, %d tasks done; want 2 and 6", ever, w.lines("done"))
	}
}

// TestMachines checks that machines chosen on a front are on its page, that they are listed with their cost, and that the user can stop them, with and
// without a running coordinator. No machine is rented in their place.
func TestMachines(t *testing.T) {
	t.Parallel()
	w, c := newCloud(t)
	w.types("2m")
	w.write("types.toml", strings.Replace(w.read("types.toml"), `task_time = "1s"`, `task_time = "100s"`, 1))
	// One machine takes ten minutes for the six tasks, two take more than five.
	w.must("plan", "bag", "--front", "--run", "--deadline", "400s", "--job-name", "night", "--detach", "--catalogue", "types.toml", "--array", "1-6", "--", "sh", "-c", "echo {} >>began; sleep 600")
	w.await("both machines to run a task", func() bool { return w.lines("began") == 2 })
	address := openDashboard(w)
	b := openBrowser(t)
	if err := b.Visit(address + "#/job/bag-1"); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `globalThis.berth?.document?.rented?.machines.length === 2 && berth.document.rented.cost > 0 && /chosen: 0.00\d+ and 5m.* with small:spot=2; so far: 0\.0\d+ and /.test(document.body.innerText)`)
	poll(t, b, `document.querySelector('[aria-label*="the front"] canvas') && document.querySelectorAll("details tr.chosen").length === 1 && berth.document.rented.front.length > 2`)
	r := w.must("machines", "list")
	if strings.Count(r.stdout, "small") != 2 || !strings.Contains(r.stdout, "night") || !strings.Contains(r.stdout, "2 machines, 0.0") {
		t.Errorf("%v", r)
	}
	_, live := c.Rented()
	if r = w.must("machines", "stop", live[0]); !strings.Contains(r.stdout, live[0]) {
		t.Errorf("%v", r)
	}
	w.killServer()
	w.must("machines", "stop", "--all")
	if _, live = c.Rented(); len(live) > 0 {
		t.Errorf("machines %v were not stopped", live)
	}
	r = w.berth("wait")
	if r.code == 0 {
		t.Errorf("the job is done without machines: %v", r)
	}
	if ever := nothingRented(w, c); ever != 2 {
		t.Errorf("%d machines were rented, want 2", ever)
	}
}
