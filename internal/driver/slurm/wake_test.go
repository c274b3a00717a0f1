package slurm

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/job"
	"berth/test/support/slurmtest"
)

// wakes returns the wake-up jobs in the queue: "id state dependency".
func (b *bed) wakes() []string {
	b.t.Helper()
	out, err := b.c.Try("squeue", "--noheader", "--name="+WakeName, "--Format=JobID: ,State: ,Dependency:")
	if err != nil {
		b.t.Fatal(err)
	}
	lines := strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	return lines
}

// awaitWake waits until there is one wake-up job, which is in that state and depends on that job.
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

// testWake: while a job is unfinished there is one wake-up job, which waits for the allocations
// there are; one that runs beside a live coordinator is followed by another; it is no load in a
// snapshot; and it goes when no job is left.
func testWake(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "[ \"$1\" = worker ] || exec sleep 600\n"+idle)
	b.opts.Wake, b.opts.StandIn = true, &driver.StandIn{Env: []string{"ODD=it's"}, Log: b.opts.Dir + ".log"}
	b.d = New(b.opts)
	req := job.AllocRequest{On: Name, Nodes: 1, PerNode: share, Time: wakeTime, Elastic: true}
	b.d.KeepAwake(nil)
	b.d.KeepAwake(&req)
	first := b.awaitWake("one that waits for its time", "PENDING", "")
	b.request("a1", 1, job.Batch{})
	b.up("a1")
	if id := b.awaitWake("one that waits for the allocation", "PENDING", b.job("a1")); id != first {
		t.Errorf("%s is another one than %s", id, first)
	}
	snap, err := b.d.Snapshot(t.Context())
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
	b.d.KeepAwake(&req)
	b.up("a1")
	c.Run(t, "scancel", b.job("a1"))
	report(b, func(in engine.AllocDown) bool { return in.Alloc == "a1" })
	b.poll("another one that waits for its time", func() bool {
		ws := b.wakes()
		return len(ws) == 1 && !strings.HasPrefix(ws[0], first+" ") && strings.Contains(ws[0], "PENDING")
	})
	if note := b.d.GuardNote(); note != "" {
		t.Errorf("it says %q", note)
	}
	b.d.KeepAwake(nil)
	b.poll("none is left", func() bool { return len(b.wakes()) == 0 && !b.d.wakesLeft() })
}

// testWakeOwn: a driver inside of an allocation gives that back last, and not before a wake-up
// job or another allocation is sure to carry on.
func testWakeOwn(t *testing.T, c *slurmtest.Cluster) {
	b := newBed(t, c, "[ \"$1\" = worker ] || exec sleep 600\n"+idle)
	req := b.request("a1", 1, job.Batch{})
	b.up("a1")
	own := b.job("a1")
	if err := b.d.Close(); err != nil {
		t.Fatal(err)
	}
	b.opts.Inside, b.opts.StandIn = own, &driver.StandIn{Log: b.opts.Dir + ".log"}
	b.d = New(b.opts)
	if err := b.d.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	b.d.KeepAwake(&req) // which asks for no wake-up job, as Options.Wake is not set
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

// TestMayCancel: what holds an allocation in which the driver itself runs.
func TestMayCancel(t *testing.T) {
	own := &alloc{id: "a1", job: "1", released: true}
	need := &job.AllocRequest{}
	for _, tt := range []struct {
		name  string
		need  *job.AllocRequest
		safe  bool
		other *alloc
		want  bool
	}{
		{"a job is unfinished and nobody would carry on", need, false, nil, false},
		{"no job is left", nil, false, nil, true},
		{"a wake-up job is ready", need, true, nil, true},
		{"another allocation is submitted", need, false, &alloc{id: "a2", job: "2"}, true},
		{"another allocation is not submitted yet", need, false, &alloc{id: "a2"}, false},
		{"another allocation is over", need, false, &alloc{id: "a2", job: "2", down: true}, false},
		{"another is to be cancelled first", nil, true, &alloc{id: "a2", job: "2", released: true}, false},
	} {
		d := &Driver{opts: Options{Inside: "1"}, allocs: []*alloc{own}}
		d.guard.need, d.guard.safe = tt.need, tt.safe
		if tt.other != nil {
			d.allocs = append(d.allocs, tt.other)
		}
		if got := d.mayCancel(own, 1); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestWakeRequest: a wake-up job is small, runs where the job does, and takes no more time than that may have.
func TestWakeRequest(t *testing.T) {
	need := job.AllocRequest{Nodes: 9, PerNode: job.Resources{CPUs: 16, Mem: 64 << 30}, Time: 5 * wakeTime,
		Batch: job.Batch{Partition: "short", Account: "a", QOS: "q", Exclusive: true, Name: "mine", Args: []string{"--gres=gpu:4", "--reservation=r"}}}
	got := strings.Join(shapeArgs(wakeRequest(&need), true), " ")
	want := "--job-name=berth --reservation=r --nodes=1 --ntasks-per-node=1 --cpus-per-task=1 --mem=512M --time=15 --job-name=berth-wake --partition=short --account=a --qos=q"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	need.Time = wakeTime / 5
	if r := wakeRequest(&need); r.Time != need.Time {
		t.Errorf("it runs for %v", r.Time)
	}
}

// TestWakeText: the script has the environment quoted, and is the coordinator itself in the end.
func TestWakeText(t *testing.T) {
	got := wakeText("/opt/b erth", &driver.StandIn{Env: []string{"A=it's", "B="}, Log: "/log"})
	for _, want := range []string{"export A='it'\\''s'\n", "export B=''\n", "exec '/opt/b erth' server run --as-stand-in --wait >>'/log' 2>&1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
