package drivertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

func testLife(b *bench) {
	b.request("a1", b.shape(2))
	up := b.joined(2)
	for rank := range 2 {
		w, ok := up[job.AllocID("a1").Node(rank)]
		if ok {
			w.hello.Capacity.Net = b.backend.Node.Net // the worker finds it out where its node has a network of its own
		}
		if !ok || w.hello.Capacity != b.backend.Node {
			b.t.Errorf("rank %d: %+v", rank, w.hello)
		}
	}
	if b.backend.Batch {
		if up := reported[step.AllocUp](b); up.Alloc != "a1" {
			b.t.Errorf("reported %+v", up)
		}
	}
	if !b.backend.Rented {
		b.gang("a1", up)
	}
	b.release("a1")
	for _, w := range up {
		b.gone(w)
	}
}

func testDeath(b *bench) {
	b.request("a1", b.shape(1))
	first := b.joined(1)["a1/0"]
	b.kill(first)
	b.died("a1/0")
	b.replaced(first)
}

func testAdopt(b *bench) {
	req := b.shape(2)
	b.request("a1", req)
	up := b.joined(2)
	if err := b.driver.Close(); err != nil {
		b.t.Fatal(err)
	}
	dead, lives := up["a1/0"], up["a1/1"]
	b.kill(dead)
	b.driver = b.make(b.t, b.setup)
	if err := b.driver.Adopt(b.t.Context(), "a1", req); err != nil {
		b.t.Fatal(err)
	}
	b.replaced(dead)
	b.kill(lives)
	b.died("a1/1", "a1/0")
	b.replaced(lives)
}

// testAdoptEarly checks that a coordinator that dies right after a request leaves the allocation to
// its successor.
func testAdoptEarly(b *bench) {
	req := b.shape(1)
	b.request("a1", req)
	b.succeed()
	if err := b.driver.Adopt(b.t.Context(), "a1", req); err != nil {
		b.t.Fatal(err)
	}
	w := b.joined(1)["a1/0"]
	b.release("a1")
	b.gone(w)
	select {
	case second := <-b.workers:
		b.t.Errorf("a second worker came up: %+v", second.hello)
	default:
	}
}

// testWallTime allows for a wall time that ends before the worker connects, on a busy machine. If it ends before a driver that polls has seen
// the allocation begin, the next one has twice as long.
func testWallTime(b *bench) {
	req, id, before, began := b.shape(1), job.AllocID("a1"), time.Now(), !b.backend.Batch
	req.Time = b.backend.WallTime
	b.request(id, req)
	for over := false; !over; {
		switch in := reported[step.Input](b).(type) {
		case step.AllocNote:
		case step.AllocUp:
			if ends := in.Ends.Std(); !b.backend.Batch || in.Alloc != id || ends.Before(before) || ends.After(time.Now().Add(req.Time+time.Second)) {
				b.t.Errorf("reported %+v, which ends at %v", in, ends)
			}
			began = true
		case step.AllocDown:
			if in.Alloc != id || in.Reason == "" {
				b.t.Errorf("reported %+v", in)
			}
			if over = began; !over {
				req.Time, id, before = 2*req.Time, id+"1", time.Now()
				b.request(id, req)
			}
		default:
			b.t.Fatalf("reported %T %+v", in, in)
		}
	}
	for {
		select {
		case w := <-b.workers:
			b.gone(w)
		default:
			return
		}
	}
}

// testTwo checks that the end of one allocation does not affect another.
func testTwo(b *bench) {
	b.request("a1", b.shape(1))
	first := b.joined(1)["a1/0"]
	b.request("a2", b.shape(1))
	second := b.joined(1)["a2/0"]
	b.release("a1")
	b.gone(first)
	b.kill(second)
	b.died("a2/0")
	b.replaced(second)
}

// testPrivate checks that only the user can read what the driver writes.
func testPrivate(b *bench) {
	b.request("a1", b.shape(1))
	b.joined(1)
	files := 0
	err := filepath.WalkDir(b.setup.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := e.Info()
		if err == nil && path != b.setup.Dir && st.Mode().Perm()&0o077 != 0 {
			b.t.Errorf("%s has mode %v", path, st.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 3 {
		b.t.Errorf("%d files, %v", files, err)
	}
}

func testClear(b *bench) {
	req := b.shape(1)
	b.request("a1", req)
	b.joined(1)
	b.release("a1")
	if err := b.driver.Clear(b.t.Context(), "a1"); err != nil {
		b.t.Error(err)
	}
	b.empty()
	if left, err := filepath.Glob(filepath.Join(req.Scratch, "*", "*")); b.backend.Batch && len(left) > 0 || err != nil {
		b.t.Errorf("the scratch folder keeps %v (%v)", left, err)
	}
}

func testNothing(b *bench) {
	if err := b.driver.Release(b.t.Context(), "a99"); err != nil {
		b.t.Error(err)
	}
	if err := b.driver.Clear(b.t.Context(), "a99"); err != nil {
		b.t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(b.setup.Dir, "a99")); err == nil {
		b.t.Error("a folder was created for an unknown allocation")
	}
}

func testSnapshot(b *bench) {
	d, observes := b.driver.(driver.Observer)
	if observes != b.backend.Batch {
		b.t.Fatal("only allocations of batch systems are planned again for a snapshot")
	}
	if !observes {
		return
	}
	snap, err := d.Snapshot(b.t.Context(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	if snap.Driver != b.backend.Name || len(snap.Nodes) == 0 || !b.backend.Node.Fits(snap.Capacity()) || snap.Queue == nil {
		b.t.Errorf("snapshot %+v", snap)
	}
}
