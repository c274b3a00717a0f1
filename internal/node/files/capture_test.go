package files

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCaptures: a file is lent again, empty, once nobody can write to it, and never before.
func TestCaptures(t *testing.T) {
	c := &Captures{Root: t.TempDir()}
	take := func() *Output {
		t.Helper()
		f, err := c.acquire()
		if err != nil {
			t.Fatal(err)
		}
		return &Output{FD: f.fd, capture: f}
	}
	write := func(fd int, text string) {
		t.Helper()
		if _, err := unix.Write(fd, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	end := func(f *Output, want string) {
		t.Helper()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, f.Bytes)
		if _, err := f.capture.ReadAt(got, 0); err != nil || string(got) != want {
			t.Errorf("%q was captured (%v), want %q", got, err, want)
		}
		c.release(f.capture)
	}
	first := take()
	write(first.FD, "first")
	left, err := unix.Dup(first.FD) // as a process that the task left
	if err != nil {
		t.Fatal(err)
	}
	end(first, "first")
	second := take()
	if second.capture == first.capture {
		t.Fatal("a file was lent again to which somebody can write")
	}
	write(left, "late")
	write(second.FD, "second")
	end(second, "second")
	if err := unix.Close(left); err != nil {
		t.Fatal(err)
	}
	again := take()
	if again.capture != first.capture && again.capture != second.capture {
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
	if err := big.Close(); err != nil {
		t.Fatal(err)
	}
	c.release(big.capture)
	for range 3 {
		if f := take(); f.capture == big.capture {
			t.Error("a large file is kept")
		}
	}
}
