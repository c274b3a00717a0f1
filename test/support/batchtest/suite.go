package batchtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// Run runs the tests that are the same for all batch systems. They do not harm each other, and run side by side on one cluster.
func Run(t *testing.T, s System, c Cluster) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, System, Cluster)
	}{
		{"a job that others cancel has ended", testCancelled},
		{"a worker that cannot run is given up", testGivesUp},
		{"workers that end give the nodes back", testEnds},
		{"each node runs one worker", testNodes},
		{"a later driver adopts existing jobs", testAdopts},
		{"jobs of unknown allocations are cancelled", testSweep},
		{"an allocation that was not adopted is released by its folder", testReleaseNoted},
		{"a wake-up job is kept submitted", testWake},
		{"the driver's own allocation is released last", testWakeOwn},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s, c)
		})
	}
}

func testCancelled(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Idle)
	b.Request("a1", 2, job.Batch{})
	b.Up("a1")
	c.Cancel(t, b.Job("a1"))
	if down := b.Down("a1", "cancelled", false); down.How != event.EndTaken {
		t.Errorf("of a cancelled job it tells %+v", down)
	}
}

func testGivesUp(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, "echo no license >&2\nexit 3\n")
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	if down := b.Down("a1", "the worker of a1/0 ends as soon as it starts: ", false); down.How != event.EndBroken || down.Bad != b.Host("a1", 0) {
		t.Errorf("of a worker that cannot run it tells %+v", down)
	}
	log, err := os.ReadFile(b.File("a1", "0.log"))
	if err != nil || strings.Count(string(log), "no license") != 5 {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func testEnds(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, "exit 0\n")
	b.Request("a1", 2, job.Batch{})
	b.Down("a1", "its workers have ended", false)
}

// testNodes checks that each rank runs one worker, on a node of its own, whose name the snapshot knows, in a folder whose name has
// special characters of shells.
func testNodes(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Idle)
	b.Opts.Dir = filepath.Join(t.TempDir(), `it's [1] "%j" $HOME`)
	b.D = batch.New(b.Opts)
	b.Request("a1", 2, job.Batch{})
	b.Up("a1")
	b.Poll("both loops run", func() bool { return b.Host("a1", 0) != "" && b.Host("a1", 1) != "" })
	snap, err := b.D.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	first, second := b.Host("a1", 0), b.Host("a1", 1)
	for _, host := range []string{first, second} {
		if !slices.ContainsFunc(snap.Nodes, func(n cluster.Node) bool { return n.Name == host }) {
			t.Errorf("a worker runs on %s, which the snapshot does not have", host)
		}
	}
	if first == second {
		t.Errorf("both workers run on %s", first)
	}
}

// testAdopts checks all points at which a coordinator may die between submitting a job and recording it.
func testAdopts(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Idle)
	req := b.Request("a1", 1, job.Batch{})
	id, up := b.Job("a1"), b.Up("a1")
	adopt := func() {
		t.Helper()
		if err := b.D.Adopt(t.Context(), "a1", req); err != nil {
			t.Fatal(err)
		}
	}
	b.Succeed() // the job's id was recorded
	adopt()
	if again := b.Up("a1"); again != up {
		t.Errorf("it is up as %+v, and was as %+v", again, up)
	}

	b.Succeed() // the submitting command had ended, and its output was lost
	if err := os.Truncate(b.File("a1", "job"), 0); err != nil {
		t.Fatal(err)
	}
	adopt()
	b.Up("a1")
	if found := b.Job("a1"); found != id {
		t.Errorf("job %s was taken for %s", found, id)
	}

	b.Succeed() // the submitting command still runs
	if err := os.Truncate(b.File("a1", "job"), 0); err != nil {
		t.Fatal(err)
	}
	f, err := statedir.TryLock(b.File("a1", "job"))
	if err != nil {
		t.Fatal(err)
	}
	adopt()
	b.Noted("a1", "an earlier submission is still under way")
	if _, err := f.WriteString(id + "\n"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	b.Up("a1")
}

func testSweep(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Idle)
	kept := b.Request("a1", 1, job.Batch{})
	b.Request("a2", 1, job.Batch{})
	known, unknown := b.Job("a1"), b.Job("a2")
	b.Succeed()
	if err := b.D.Adopt(t.Context(), "a1", kept); err != nil {
		t.Fatal(err)
	}
	if err := b.D.Sweep([]job.AllocID{"a1"}); err != nil {
		t.Fatal(err)
	}
	b.Poll("its job is gone", func() bool { return !c.Alive(t, unknown) })
	b.Poll("its folder is gone", func() bool { _, err := os.Stat(b.File("a2", "")); return os.IsNotExist(err) })
	if !c.Alive(t, known) {
		t.Error("the job in use has ended")
	}
}

// testReleaseNoted checks that a coordinator releases an allocation that an earlier one recorded as released,
// without having released it. The later coordinator does not adopt it.
func testReleaseNoted(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Idle)
	b.Request("a1", 1, job.Batch{})
	id := b.Job("a1")
	b.Succeed()
	b.Release("a1")
	b.Poll("its job is gone", func() bool { return !c.Alive(t, id) })
	b.Release("a2") // it never existed
}

// wakes returns the ids of the wake-up jobs that are noted in the driver's folder.
func (b *Bed) wakes() (ids []string) {
	files, _ := filepath.Glob(filepath.Join(b.Opts.Dir+"-wake", "default", "*", "job"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if id := b.System.Open(nil).JobID(string(text)); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// wake waits until there is one wake-up job, for which is returns true, and returns its id.
func (b *Bed) wake(what string, is func(id string, st batch.Status) bool) (id string) {
	b.T.Helper()
	b.Poll(what, func() bool {
		ids := b.wakes()
		if len(ids) != 1 {
			return false
		}
		id = ids[0]
		all, err := b.System.Open(b.Opts.Env).Jobs(context.Background(), []batch.Job{{ID: id}})
		return err == nil && is(id, all[id])
	})
	return id
}

// testWake checks that there is one wake-up job while a job is unfinished, and that it waits for the allocations. If it runs while a
// coordinator lives, another one replaces it. It is not in snapshots, and it is cancelled when no job is left.
func testWake(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Anything)
	b.Opts.Wake, b.Opts.StandIn = true, &wire.StandIn{Env: []string{"ODD=it's"}, Log: b.Opts.Dir + ".log"}
	b.D = batch.New(b.Opts)
	req := job.AllocRequest{On: s.Open.Name(), Nodes: 1, PerNode: s.Share, Time: 15 * time.Minute, Elastic: true}
	b.D.KeepAwake([]job.AllocRequest{req})
	waits := func(_ string, st batch.Status) bool { return st.Phase == batch.Waiting }
	first := b.wake("one that waits for its time", waits)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	if id := b.wake("one that waits for the allocation", waits); id != first {
		t.Errorf("the wake-up job is %s; want the first one, %s", id, first)
	}
	snap, err := b.D.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range slices.Concat(snap.Queue.Pending, snap.Queue.Running) {
		if q.ID == first {
			t.Errorf("the snapshot has the wake-up job: %+v", q)
		}
	}
	b.Succeed()
	if err := b.D.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.D.KeepAwake([]job.AllocRequest{req})
	b.Up("a1")
	c.Cancel(t, b.Job("a1"))
	Report(b, func(in step.AllocDown) bool { return in.Alloc == "a1" })
	b.wake("another one that waits for its time", func(id string, st batch.Status) bool { return st.Phase == batch.Waiting })
	if note := b.D.GuardNote(req); note != "" {
		t.Errorf("the note is %q", note)
	}
	b.D.KeepAwake(nil)
	b.Poll("none is left", func() bool { return len(b.wakes()) == 0 && !c.Alive(t, first) })
}

// testWakeOwn checks that a driver inside an allocation releases this one last, and only when a wake-up job or another allocation can
// continue the jobs.
func testWakeOwn(t *testing.T, s System, c Cluster) {
	b := NewBed(t, s, c, Anything)
	req := b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	own := b.Job("a1")
	if err := b.D.Close(); err != nil {
		t.Fatal(err)
	}
	b.Opts.Inside, b.Opts.StandIn = own, &wire.StandIn{Log: b.Opts.Dir + ".log"}
	b.D = batch.New(b.Opts)
	if err := b.D.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.D.KeepAwake([]job.AllocRequest{req}) // this submits no wake-up job, as Options.Wake is not set
	b.Up("a1")
	b.Release("a1")
	b.Request("a2", 1, job.Batch{})
	b.Up("a2")
	b.Poll("its own allocation ends", func() bool { return !c.Alive(t, own) })
	if next := b.Job("a2"); next == own {
		t.Error("the allocation is the same")
	}
}
