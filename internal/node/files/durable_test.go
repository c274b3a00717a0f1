package files

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/sys/disk"
)

// Outputs are on the disk when the worker says so: one by one, or many with their disk.
func TestOutputsAreSynced(t *testing.T) {
	dir := t.TempDir()
	var got []string
	d := NewDurable()
	d.syncFile = func(path string) error { got = append(got, "file "+filepath.Base(path)); return disk.SyncPlain(path) }
	d.syncDisk = func(string) error { got = append(got, "disk"); return nil }
	put := func(n int) {
		t.Helper()
		for i := range n {
			a, err := openOutput(filepath.Join(dir, strconv.Itoa(i)), try("bag-1", i, 1))
			if err == nil {
				err = a.Close()
			}
			if err == nil {
				err = a.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
			d.Note(a)
		}
	}
	check := func(want ...string) {
		t.Helper()
		got = nil
		if err := d.Sync(); err != nil {
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
	d.NoteShared(filepath.Join(dir, "0"))
	d.NoteShared(filepath.Join(dir, "0"))
	check("file 0", "file "+filepath.Base(dir)) // however many outputs were added to it
	check()
	put(2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check("file 0", "file 1", "file "+filepath.Base(dir))
	d.Note(&Output{}) // written in place
	check()
	d.syncFile = func(string) error { return unix.EIO }
	d.Note(&Output{path: filepath.Join(dir, "x")})
	if err := d.Sync(); err == nil {
		t.Error("an output that was lost is said to be durable")
	}
}
