package worker

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// small mounts a file system of so many bytes, or skips the test where that is not allowed.
func small(t *testing.T, bytes string) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("berth-test", dir, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, "mode=0700,nr_inodes=100,size="+bytes)
	if err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// A full scratch folder breaks the attempt, with a reason that says where and
// what to do, and not the worker.
func TestFullScratchFolder(t *testing.T) {
	dir := small(t, "1m")
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Scratch = filepath.Join(dir, "scratch")
	p, _ := c.worker(cfg)
	s := streaming(t, fruit, []string{"sh", "-c", "cat; head -c 30000000 /dev/urandom | od -An -x"}, count)
	p.job(s, 1, 1)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	m := p.ended(event.Broken)
	if !strings.Contains(m.Reason, cfg.Scratch) || !regexp.MustCompile(`(?i)space|room`).MatchString(m.Reason) ||
		!strings.Contains(m.Reason, "--scratch") {
		t.Errorf("reason is %q", m.Reason)
	}
	s = bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done) // what the map took is free again
}

// A bag task's folder cannot be made.
func TestFullScratchFolderForBag(t *testing.T) {
	dir := small(t, "1m")
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Scratch = filepath.Join(dir, "scratch")
	p, _ := c.worker(cfg)
	fill(t, dir)
	s := bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if m := p.ended(event.Broken); !strings.Contains(m.Reason, cfg.Scratch) {
		t.Errorf("reason is %q", m.Reason)
	}
}

// fill leaves no room for another file.
func fill(t *testing.T, dir string) {
	t.Helper()
	for n := range 1000 {
		if err := os.Mkdir(filepath.Join(dir, strconv.Itoa(n)), 0o700); err != nil {
			return
		}
	}
	t.Fatal("the file system does not fill")
}

// An output that cannot be written breaks the attempt, too.
func TestFullOutputFolder(t *testing.T) {
	dir := small(t, "64k")
	fill(t, dir)
	_, p := startWorker(t)
	s := bag(t, "true")
	s.Bag.Stdout = filepath.Join(dir, "{task}")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if m := p.ended(event.Broken); !strings.Contains(m.Reason, dir) || !strings.Contains(m.Reason, "free space there") {
		t.Errorf("reason is %q", m.Reason)
	}
	p.say(wire.Kill{Attempt: job.Attempt{Job: s.ID, Task: 1, N: 1}})
	p.ended(event.Killed) // the worker lives
}
