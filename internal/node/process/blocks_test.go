package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// shell runs a command in a folder and returns what its phase took.
func shell(t *testing.T, dir, command string) job.PhaseStat {
	t.Helper()
	lanes, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	set := &Set{Meter: probe.NewMeter(probe.Now)}
	set.Meter.Enter(job.PhaseCompute)
	c := &Command{Path: "/bin/sh", Args: []string{"sh", "-ec", command}, Dir: dir, Env: os.Environ(), Grace: time.Second}
	over := make(chan error, 1)
	lanes.Run(-1, func(*Lane) {
		_, err := set.Run(c, []uintptr{null.Fd(), null.Fd(), null.Fd()})
		over <- err
	})
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	return set.Meter.Finish()[0]
}

// TestDiskOfPrograms: the bytes that a program and its children read from disks and wrote to files are what
// the kernel tells of it in /proc/PID/io. Programs that the shell waited for count, pipes do not.
func TestDiskOfPrograms(t *testing.T) {
	if err := probe.Blocks(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	got := shell(t, dir, `head -c 3000000 /dev/zero > a; cat a a > b; cat /proc/$$/io > io`)
	text, err := os.ReadFile(filepath.Join(dir, "io"))
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"read_bytes: %d", "write_bytes: %d"} {
			var n int64
			if _, err := fmt.Sscanf(line, name, &n); err == nil {
				want += n
			}
		}
	}
	const after = 1 << 20 // what cat took to start and to write its file
	if got.DiskBytes < want || got.DiskBytes > want+after {
		t.Errorf("%d bytes; the kernel said\n%s", got.DiskBytes, text)
	}
	const piped = 32 << 20
	got = shell(t, dir, fmt.Sprintf("head -c %d /dev/zero | cat | tail -c 1 > c", piped))
	if got.DiskBytes > piped/4 {
		t.Errorf("%d bytes of disk where %d went through pipes", got.DiskBytes, piped)
	}
}
