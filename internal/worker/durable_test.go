package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/disk"
	"berth/internal/event"
	"berth/internal/wire"
)

// Outputs are on the disk when the worker says so: one by one, or many with their disk.
func TestOutputsAreSynced(t *testing.T) {
	dir := t.TempDir()
	var got []string
	d := newDurable()
	d.syncFile = func(path string) error { got = append(got, "file "+filepath.Base(path)); return disk.SyncPlain(path) }
	d.syncDisk = func(string) error { got = append(got, "disk"); return nil }
	put := func(n int) {
		t.Helper()
		for i := range n {
			a, err := openAside(filepath.Join(dir, strconv.Itoa(i)), try("bag-1", i, 1))
			if err == nil {
				err = a.close()
			}
			if err == nil {
				err = a.commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			d.note(&a)
		}
	}
	check := func(want ...string) {
		t.Helper()
		got = nil
		if err := d.sync(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("synced %v, want %v", got, want)
		}
	}
	check()
	put(2)
	check("file 0", "file 1", "file "+filepath.Base(dir))
	check()
	put(maxSingly + 1)
	check("disk")
	put(2)
	if err := os.Remove(filepath.Join(dir, "0")); err != nil {
		t.Fatal(err)
	}
	check("file 0", "file 1", "file "+filepath.Base(dir)) // taken away by its user
	put(2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check("file 0", "file 1", "file "+filepath.Base(dir))
	d.note(&aside{}) // written in place
	check()
	d.syncFile = func(string) error { return unix.EIO }
	d.note(&aside{path: filepath.Join(dir, "x")})
	if err := d.sync(); err == nil {
		t.Error("an output that was lost is said to be durable")
	}
}

// The worker answers when all is durable whose end it told before it was asked.
func TestSyncIsAnswered(t *testing.T) {
	c := newCoord(t)
	p, _ := c.worker(c.config("a1/0"))
	s := bag(t, "true")
	p.job(s, 0, 0)
	for i := range 3 {
		p.say(start(try(s.ID, i, 1)))
		p.ended(event.Done)
		p.say(&wire.Sync{N: int64(i) + 7})
		if m := expect[*wire.Synced](p); m.N != int64(i)+7 || m.Error != "" {
			t.Errorf("answered %+v", m)
		}
	}
}
