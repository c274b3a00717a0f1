package test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// These tests check what continues when all processes that a user started on the login node are killed.
// After that the tests run no command and only read files until the job has ended.

// aloneWorld returns a login node whose coordinators count as dead after a second.
func (s system) aloneWorld(t *testing.T) (*world, cluster) {
	t.Helper()
	w, c := s.world(t, 8)
	w.batch = append(w.batch, "BERTH_STAND_IN_AFTER=1s")
	return w, c
}

// logOut kills a command and the coordinator on the login node, as a site does at logout.
func (w *world) logOut(r *running) {
	w.t.Helper()
	_ = r.cmd.Process.Kill()
	<-r.ended
	for _, pid := range w.loginCoordinators() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.await("the end of the coordinator", func() bool { return len(w.loginCoordinators()) == 0 })
}

// loginCoordinators returns the coordinators that are not part of a job of the batch system.
func (w *world) loginCoordinators() []int {
	var pids []int
	for _, pid := range w.berths(coordinatorRole) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && !strings.Contains("\x00"+string(b), "\x00"+w.system.variable+"=") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ended returns the job's last view after its end.
func (w *world) ended(id job.ID) (v report.JobView, ok bool) {
	err := statedir.ReadJSON(w.home().Run(id).Summary(), &v)
	return v, err == nil
}

// aloneBag returns a bag whose tasks each record their end.
func (s system) aloneBag(tasks int, seconds int, more ...string) []string {
	args := append([]string{"bag", "--on", s.name, "--no-scout", "--max-allocs", "1", "--array", fmt.Sprintf("1-%d", tasks)}, more...)
	return append(args, "--stdout", "out/{task}", "--stderr", "none", "--", "sh", "-c",
		fmt.Sprintf("sleep %d; echo $BERTH_TASK_ID; echo ran >>$BERTH_TASK_ID.ran", seconds))
}

// checkAlone is checkEnd, and also checks that each task was run to its end once.
func (w *world) checkAlone(c cluster, id job.ID, tasks int) {
	w.t.Helper()
	w.checkEnd(c, id, tasks)
	for i := 1; i <= tasks; i++ {
		if got := w.read(fmt.Sprintf("%d.ran", i)); got != "ran\n" {
			w.t.Errorf("task %d came to its end %d times", i, strings.Count(got, "\n"))
		}
	}
}

// checkEnd checks that the job is done, that no task was done twice, and that the queue is empty.
func (w *world) checkEnd(c cluster, id job.ID, tasks int) {
	w.t.Helper()
	if v, _ := w.ended(id); v.State != "done" {
		w.t.Errorf("the job is %s: %s", v.State, v.Reason)
	}
	w.checkNoneTwice(w.records(id))
	for i := 1; i <= tasks; i++ {
		if got := w.read(fmt.Sprintf("out/%d", i)); got != fmt.Sprintln(i) {
			w.t.Errorf("task %d wrote %q", i, got)
		}
	}
	w.await("an empty queue", func() bool {
		left, err := c.queue()
		return err == nil && len(left) == 0
	})
	w.await("the end of all coordinators", func() bool { return len(w.berths(coordinatorRole)) == 0 })
}

// TestAloneBag runs a bag over four allocations, one after the other. After the first one all processes on the login
// node are killed. Workers start coordinators, which request the next allocations.
func TestAloneBag(t *testing.T) { onEach(t, testAloneBag) }

func testAloneBag(t *testing.T, s system) {
	s.atLeisure(t)
	w, c := s.aloneWorld(t)
	const tasks = 20
	r := w.start(s.aloneBag(tasks, s.task, "-N", "1-1", "-t", s.brief, "-c", "2")...)
	w.await("the second allocation", func() bool { return r.over() || w.began() >= 2 })
	w.logOut(r)
	id := w.jobs()[0]
	for n := 3; n <= 4; n++ {
		w.await(fmt.Sprintf("allocation %d", n), func() bool {
			_, over := w.ended(id)
			return over || w.began() >= n
		})
	}
	w.await("the end of the job", func() bool { _, over := w.ended(id); return over })
	w.checkAlone(c, id, tasks)
	if n := w.began(); n < 4 {
		t.Errorf("%d allocations", n)
	}
}

// began counts the allocations that have started, while the journal is being written.
func (w *world) began() int {
	n := 0
	all, _ := replay(w.home().Journal())
	for _, e := range all {
		if isBegan(e) {
			n++
		}
	}
	return n
}

// TestAloneWake kills the processes on the login node while an allocation runs whose workers start no
// coordinator, and then cancels the allocation. The wake-up job starts and continues
// the job.
func TestAloneWake(t *testing.T) { onEach(t, testAloneWake) }

func testAloneWake(t *testing.T, s system) {
	s.atLeisure(t)
	w, c := s.aloneWorld(t)
	w.batch = append(w.batch, "BERTH_STAND_IN_AFTER=1h")
	const tasks = 4
	r := w.start(s.aloneBag(tasks, 9, "-N", "1-1", "-t", "1", "-c", "2")...)
	w.await("a wake-up job that waits for the allocation", func() bool {
		all, err := c.queue()
		waits := slices.ContainsFunc(all, func(j string) bool { return strings.HasPrefix(j, "berth-wake") && len(strings.Fields(j)) > 1 })
		return r.over() || err == nil && waits && w.began() == 1
	})
	w.logOut(r)
	id := w.jobs()[0]
	c.cancel(t, registry.Batch(s.name).JobOf(w.home().Server(), "a1"))
	w.await("the second allocation", func() bool { return w.began() >= 2 })
	if o := leader.Of(w.home()).Owner(); o == nil || !o.StandIn {
		t.Errorf("the coordinator is %+v", o)
	}
	w.await("the end of the job", func() bool { _, over := w.ended(id); return over })
	w.checkEnd(c, id, tasks)
}

// TestAloneHandOver checks that a command on the login node replaces a stand-in and says so, and that the
// stand-in does not touch jobs that run on the login node itself.
func TestAloneHandOver(t *testing.T) { onEach(t, testAloneHandOver) }

func testAloneHandOver(t *testing.T, s system) {
	s.atLeisure(t)
	w, c := s.aloneWorld(t)
	here := w.start("bag", "--on", "local", "--array", "1-2", "--stdout", "here/{task}", "--stderr", "none", "--", "sh", "-c",
		"while [ ! -e go ]; do sleep 0.1; done; echo $BERTH_TASK_ID")
	w.await("the first job", func() bool { return len(w.jobs()) == 1 && len(w.tryRecords(w.jobs()[0])) > 1 })
	before := w.tryRecords(w.jobs()[0])
	const tasks = 4
	r := w.start(s.aloneBag(tasks, 5, "-N", "1-1", "-t", "5", "-c", "2")...)
	w.await("the allocation", func() bool { return w.began() == 1 })
	_ = here.cmd.Process.Kill()
	<-here.ended
	w.logOut(r)
	w.await("a stand-in", func() bool { o := leader.Of(w.home()).Owner(); return o != nil && o.StandIn })
	if now := w.tryRecords("bag-1"); len(now) > len(before)+2 { // a second task may just have started
		t.Errorf("the stand-in has written to a job of the login node: %d records, before %d", len(now), len(before))
	}
	w.write("go", "")
	waited := w.must("wait", "bag-1")
	if !strings.Contains(waited.stderr, "stand-in; taking over") {
		t.Errorf("the command says %q", waited.stderr)
	}
	if o := leader.Of(w.home()).Owner(); o == nil || o.StandIn || len(w.loginCoordinators()) != 1 {
		t.Errorf("the coordinator is %+v", o)
	}
	w.must("wait", "bag-2")
	w.must("server", "stop")
	w.checkEnd(c, "bag-2", tasks)
	checkOnce(t, w.records("bag-1"))
}

// TestAloneStopped checks that no stand-in replaces a coordinator that the user has ended by a command, and that
// the next command continues the job.
func TestAloneStopped(t *testing.T) { onEach(t, testAloneStopped) }

func testAloneStopped(t *testing.T, s system) {
	s.atLeisure(t)
	w, c := s.aloneWorld(t)
	const tasks = 4
	w.must(append([]string{"bag", "--detach"}, s.aloneBag(tasks, 5, "-N", "1-1", "-t", "5", "-c", "2")[1:]...)...)
	w.await("the first task", func() bool { return w.began() == 1 && len(w.tryRecords("bag-1")) > 1 })
	w.must("server", "stop", "--force")
	w.await("a stand-in that finds that it is not wanted", func() bool {
		log, err := os.ReadFile(w.home().ServerLog())
		return err == nil && strings.Contains(string(log), "the user has stopped the coordinator")
	})
	if o := leader.Of(w.home()).StandIn(); o != nil {
		t.Errorf("%+v stands in", o)
	}
	w.must("wait", "bag-1")
	w.must("server", "stop")
	w.checkEnd(c, "bag-1", tasks)
}

// TestAloneFaults kills the processes on the login node at a random moment, and then stand-ins at random moments.
// No command is run until the job has ended. The output equals the reference byte for byte. Before an allocation has begun there is
// no node on which anybody could continue, and the job would wait for the next command.
func TestAloneFaults(t *testing.T) { onEach(t, testAloneFaults) }

func testAloneFaults(t *testing.T, s system) {
	s.atLeisure(t)
	w, _ := s.aloneWorld(t)
	reference := w.wordsReference()
	for round, seed := range w.seeded(t, max(1, s.rounds(t)/2)) {
		rng := newRand(seed)
		out := fmt.Sprintf("out%d", round)
		before := w.began()
		r, id := w.startSort(out)
		w.await("an allocation", func() bool { // or the end: nodes of the round before may still work for this one
			_, over := w.ended(id)
			return over || w.began() > before
		})
		at := 5 + rng.IntN(30)
		did := []string{fmt.Sprintf("login side at %d", at)}
		w.reach(id, at)
		w.logOut(r)
		for range 1 + rng.IntN(2) {
			at += 5 + rng.IntN(30)
			if !w.reach(id, at) {
				break
			}
			did = append(did, fmt.Sprintf("coordinators at %d", at))
			for _, pid := range w.berths(coordinatorRole) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
			}
			w.kills.Add(1)
		}
		w.await("the end of the job", func() bool { _, over := w.ended(id); return over })
		if v, _ := w.ended(id); v.State != "done" {
			t.Fatalf("seed %d (%s): the job is %s: %s", seed, strings.Join(did, ", "), v.State, v.Reason)
		}
		w.checkSort(fmt.Sprintf("seed %d (%s)", seed, strings.Join(did, ", ")), id, out, reference)
	}
}
