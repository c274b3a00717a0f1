package files

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCapture: each attempt has an empty file of its own without a name, whatever the processes of earlier attempts still write.
func TestCapture(t *testing.T) {
	dir := t.TempDir()
	b := Bag{Site: Site{Captures: dir}}
	take := func() *Output {
		t.Helper()
		c, err := newCapture(dir)
		if err != nil {
			t.Fatal(err)
		}
		return &Output{FD: c.fd, capture: c}
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
		b.Prints[0] = f
		b.Release()
	}
	first := take()
	write(first.FD, "first")
	left, err := unix.Dup(first.FD) // as a process that the task left
	if err != nil {
		t.Fatal(err)
	}
	end(first, "first")
	second := take()
	write(left, "late")
	write(second.FD, "second")
	end(second, "second")
	if err := unix.Close(left); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); len(names) > 0 || err != nil {
		t.Errorf("%v are there (%v), want files without names", names, err)
	}
	if _, err := newCapture(dir + "/none"); err == nil {
		t.Error("a file was made in a folder that does not exist")
	}
}
