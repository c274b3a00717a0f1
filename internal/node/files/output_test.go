package files

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/node/process"
)

// Two coordinators may call their jobs the same and write to one path. Each file holds what
// one task wrote, and the commit of the one whose part was replaced fails.
func TestPartOfTheSameName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write := func(a *Output, text string) {
		if _, err := unix.Write(a.FD, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	first, err := openOutput(path, try("bag-1", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	write(first, "first")
	second, err := openOutput(path, try("bag-1", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	write(second, "second")
	write(first, " and more")
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(); err == nil {
		t.Error("the file of the second was put into place by the first")
	}
	first.Drop()
	if err := second.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "second" {
		t.Errorf("the output is %q", got)
	}
}

// What a task has printed is put into place although it removed the name of the part, or the whole folder.
func TestPartThatIsRemoved(t *testing.T) {
	for _, removed := range []string{"x", "x/y"} {
		dir := t.TempDir()
		o, err := openOutput(filepath.Join(dir, "x", "y", "out"), try("bag-1", 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"before, ", "after"} {
			if _, err := o.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, removed)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(o.Close(), o.Commit()); err != nil {
			t.Fatal(err)
		}
		if got := read(t, o.path); got != "before, after" || o.Bytes != int64(len(got)) {
			t.Errorf("%s was removed: the output is %q of %d bytes", removed, got, o.Bytes)
		}
		if left, _ := os.ReadDir(filepath.Dir(o.path)); len(left) != 1 {
			t.Errorf("%v is left", left)
		}
	}
}

// What lies under the name of a part is never written to, whatever it is.
func TestPartThatIsThereAlready(t *testing.T) {
	for name, plant := range map[string]func(part, victim string) error{
		"a symlink":          func(part, victim string) error { return os.Symlink(victim, part) },
		"a dangling symlink": func(part, victim string) error { return os.Symlink(victim+"-new", part) },
		"a hard link":        func(part, victim string) error { return os.Link(victim, part) },
		"a FIFO":             func(part, _ string) error { return unix.Mkfifo(part, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim, at := filepath.Join(dir, "x"), filepath.Join(dir, "victim"), try("bag-1", 0, 1)
			if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o600), plant(partName(path, at), victim)); err != nil {
				t.Fatal(err)
			}
			a, err := openOutput(path, at)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(a.FD, []byte("task")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(a.Close(), a.Commit()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path) + " " + read(t, victim); got != "task mine" {
				t.Errorf("output and victim hold %q", got)
			}
			names(t, dir, "victim", "x")
		})
	}
}

func TestLongOutputNames(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("n", 255))
	parts := make(map[string]bool)
	for task := range 2 {
		at := try("bag-1", task, 1)
		a, err := openOutput(long[:len(long)-1]+strconv.Itoa(task), at)
		if err != nil {
			t.Fatal(err)
		}
		parts[a.part] = true
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if len(parts) != 2 {
		t.Error("two tasks wrote to one part")
	}
	at, stem := try("bag-1", 0, 1), filepath.Join(dir, strings.Repeat("n", 200))
	if partName(stem+".out", at) == partName(stem+".err", at) {
		t.Error("two streams of a task write to one part")
	}
	var f *process.Failure
	if _, err := openOutput(long+"n", at); !errors.As(err, &f) || f.Outcome != event.Failed {
		t.Errorf("a name of 256 bytes: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("there is %v (%v)", left, err)
	}
}
