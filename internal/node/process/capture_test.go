package process

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCaptures: a file is lent again, empty, once nobody can write to it, and never before.
func TestCaptures(t *testing.T) {
	c := &Captures{Root: t.TempDir()}
	take := func() *Capture {
		t.Helper()
		f, err := c.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write := func(fd int, text string) {
		t.Helper()
		if _, err := unix.Write(fd, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	end := func(f *Capture, want string) {
		t.Helper()
		if err := f.End(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, f.Size)
		if _, err := f.ReadAt(got, 0); err != nil || string(got) != want {
			t.Errorf("%q was captured (%v), want %q", got, err, want)
		}
		c.Release(f)
	}
	first := take()
	write(first.FD, "first")
	left, err := unix.Dup(first.FD) // as a process that the task left
	if err != nil {
		t.Fatal(err)
	}
	end(first, "first")
	second := take()
	if second == first {
		t.Fatal("a file was lent again to which somebody can write")
	}
	write(left, "late")
	write(second.FD, "second")
	end(second, "second")
	if err := unix.Close(left); err != nil {
		t.Fatal(err)
	}
	again := take()
	if again != first && again != second {
		t.Skip("the file system of " + c.Root + " grants no leases, so that each attempt has a new file")
	}
	end(again, "")
	if names, err := os.ReadDir(c.Root); len(names) > 0 || err != nil {
		t.Errorf("%v are there (%v), want files without names", names, err)
	}
	big := take()
	if err := unix.Ftruncate(big.FD, maxKept+1); err != nil {
		t.Fatal(err)
	}
	if err := big.End(); err != nil {
		t.Fatal(err)
	}
	c.Release(big)
	for range 3 {
		if f := take(); f == big {
			t.Error("a large file is kept")
		}
	}
}
