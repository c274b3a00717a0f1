package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/wire"
)

// A job is cancelled and run again at once, to the same output. The task of the cancelled
// job ignores SIGTERM and still writes; nothing of that is in the output of the second job.
func TestOutputOfACancelledJobStaysOut(t *testing.T) {
	c := newCoord(t)
	p, _ := c.worker(c.config("a1/0"))
	out := filepath.Join(t.TempDir(), "out", "{task}.txt")
	script := func(id job.ID, ignore, word string) *job.Spec {
		s := shell(t, ignore+`echo `+word+`; echo > ready; read x < go; echo `+word)
		s.ID, s.Bag.Stdout = id, out
		fifo(t, s.Dir, "ready")
		fifo(t, s.Dir, "go")
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		hear(t, filepath.Join(s.Dir, "ready"))
		return s
	}
	first := script("bag-1", `trap '' TERM; `, "old")
	p.say(&wire.Kill{Attempt: try(first.ID, 0, 1), Reason: "cancelled"})
	second := script("bag-2", "", "new")
	release(t, filepath.Join(first.Dir, "go"))
	p.ended(event.Killed)
	release(t, filepath.Join(second.Dir, "go"))
	p.ended(event.Done)
	if got := read(t, filepath.Join(filepath.Dir(out), "1.txt")); got != "new\nnew\n" {
		t.Errorf("the output of the second job is %q", got)
	}
	names(t, filepath.Dir(out), "1.txt")
}

// Two coordinators may call their jobs the same and write to one path. Each file holds what
// one task wrote, and the commit of the one whose part was replaced fails.
func TestPartOfTheSameName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write := func(a aside, text string) {
		if _, err := unix.Write(a.fd, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	first, err := openAside(path, try("bag-1", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	write(first, "first")
	second, err := openAside(path, try("bag-1", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	write(second, "second")
	write(first, " and more")
	if err := errors.Join(first.close(), second.close()); err != nil {
		t.Fatal(err)
	}
	if err := first.commit(); err == nil {
		t.Error("the file of the second was put into place by the first")
	}
	first.drop()
	if err := second.commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "second" {
		t.Errorf("the output is %q", got)
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
			if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o600), plant(partName(path, at, 1), victim)); err != nil {
				t.Fatal(err)
			}
			a, err := openAside(path, at)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(a.fd, []byte("task")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(a.close(), a.commit()); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path) + " " + read(t, victim); got != "task mine" {
				t.Errorf("output and victim hold %q", got)
			}
			names(t, dir, "victim", "x")
		})
	}
}
