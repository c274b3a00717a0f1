package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/internal/wire"
	"berth/test/support/slurmtest"
)

// wakes returns the wake-up jobs in the queue: "id state dependency".
func (b *bed) wakes() []string {
	b.t.Helper()
	out, err := b.c.Try("squeue", "--noheader", "--name="+batch.WakeName, "--Format=JobID: ,State: ,Dependency:")
	if err != nil {
		b.t.Fatal(err)
	}
	lines := strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	return lines
}

// wakesLeft reports whether the driver has a folder for a wake-up job.
func (b *bed) wakesLeft() bool {
	left, err := os.ReadDir(filepath.Join(b.opts.Dir+"-wake", "default"))
	return err == nil && len(left) > 0
}

// awaitWake waits until there is one wake-up job, in this state and depending on this job.
func (b *bed) awaitWake(what, state, on string) (id string) {
	b.t.Helper()
	b.poll(what, func() bool {
		ws := b.wakes()
		if len(ws) != 1 {
			return false
		}
		f := append(strings.Fields(ws[0]), "", "")
		id = f[0]
		return f[1] == state && (on == "" && !strings.Contains(f[2], "afterany") || on != "" && strings.Contains(f[2], "afterany:"+on))
	})
	return id
}

// testWake checks that there is one wake-up job while a job is unfinished, and that it waits for the allocations.
// If it runs while a coordinator lives, another one replaces it. It is not in
// snapshots, and it is cancelled when no job is left.
func testWake(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "[ \"$1\" = worker ] || exec sleep 600\n"+idle)
	b.opts.Wake, b.opts.StandIn = true, &wire.StandIn{Env: []string{"ODD=it's"}, Log: b.opts.Dir + ".log"}
	b.d = batch.New(b.opts)
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Time: 15 * time.Minute, Elastic: true}
	b.d.KeepAwake(nil)
	b.d.KeepAwake([]job.AllocRequest{req})
	first := b.awaitWake("one that waits for its time", "PENDING", "")
	b.request("a1", 1, job.Batch{})
	b.up("a1")
	if id := b.awaitWake("one that waits for the allocation", "PENDING", b.job("a1")); id != first {
		t.Errorf("the wake-up job is %s; want the first one, %s", id, first)
	}
	snap, err := b.d.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range slices.Concat(snap.Queue.Pending, snap.Queue.Running) {
		if q.ID == first {
			t.Errorf("the snapshot has the wake-up job: %+v", q)
		}
	}
	b.succeed()
	if err := b.d.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.d.KeepAwake([]job.AllocRequest{req})
	b.up("a1")
	c.Run(t, "scancel", b.job("a1"))
	report(b, func(in step.AllocDown) bool { return in.Alloc == "a1" })
	b.poll("another one that waits for its time", func() bool {
		ws := b.wakes()
		return len(ws) == 1 && !strings.HasPrefix(ws[0], first+" ") && strings.Contains(ws[0], "PENDING")
	})
	if note := b.d.GuardNote(req); note != "" {
		t.Errorf("the note is %q", note)
	}
	b.d.KeepAwake(nil)
	b.poll("none is left", func() bool { return len(b.wakes()) == 0 && !b.wakesLeft() })
}

// testWakeOwn checks that a driver inside an allocation releases this one last, and only when a wake-up
// job or another allocation can continue the jobs.
func testWakeOwn(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "[ \"$1\" = worker ] || exec sleep 600\n"+idle)
	req := b.request("a1", 1, job.Batch{})
	b.up("a1")
	own := b.job("a1")
	if err := b.d.Close(); err != nil {
		t.Fatal(err)
	}
	b.opts.Inside, b.opts.StandIn = own, &wire.StandIn{Log: b.opts.Dir + ".log"}
	b.d = batch.New(b.opts)
	if err := b.d.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.d.KeepAwake([]job.AllocRequest{req}) // this submits no wake-up job, as Options.Wake is not set
	b.up("a1")
	b.release("a1")
	b.request("a2", 1, job.Batch{})
	b.up("a2")
	b.poll("its own allocation ends", func() bool {
		state, err := c.State(own)
		return err != nil || state != "RUNNING"
	})
	if next := b.job("a2"); next == own {
		t.Error("the allocation is the same")
	}
}
