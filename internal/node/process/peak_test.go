package process

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// TestPeakBesideGrowingWorker: the peak memory of a program is known although the worker grew beyond it while it ran.
func TestPeakBesideGrowingWorker(t *testing.T) {
	r, w, null := pipeAndNull(t)
	l, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	// The kernel hands the peak of the go command on to the test's process, which it executes, and the program must exceed it.
	const more = 64 << 20
	least := ownPeak() + more
	s := &Set{Meter: probe.NewMeter(probe.Now, nil)}
	done := make(chan int64, 1)
	l.Run(-1, func(*Lane) {
		c := &Command{Path: "/usr/bin/dd", Args: []string{"dd", fmt.Sprintf("bs=%d", least), "count=1", "iflag=fullblock"}, Dir: "/", Env: os.Environ(), Grace: time.Second}
		p, err := s.start(c, []uintptr{r.Fd(), null.Fd(), null.Fd()}, nil)
		if err != nil {
			t.Error(err)
			done <- 0
			return
		}
		mem, err := unix.Mmap(-1, 0, int(least+more), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(make([]byte, least))
		_ = w.Close()
		e := p.wait()
		_ = unix.Munmap(mem)
		s.ended(p, e)
		done <- e.maxRSS
	})
	if rss := <-done; rss < least {
		t.Fatalf("the program had %d bytes", rss)
	}
	if peak := s.Meter.Snapshot().PeakMemory; peak < least {
		t.Errorf("its peak is %d bytes", peak)
	}
}

// TestPeakOfSeveral: the peak of a program whose memory is limited is what its processes used together, and not what the largest of them used.
// They wait until that was measured.
func TestPeakOfSeveral(t *testing.T) {
	r, w, null := pipeAndNull(t)
	l, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	const script = `exec 3<&0; for i in 1 2 3; do { x=$(head -c 60000000 /dev/zero | tr '\0' x); cat <&3; } & done; wait`
	s := &Set{Meter: probe.NewMeter(probe.Now, nil)}
	ended := make(chan error, 1)
	l.Run(-1, func(*Lane) {
		c := &Command{Path: "/bin/bash", Args: []string{"bash", "-c", script}, Dir: "/", Env: os.Environ(), Grace: time.Second}
		_, err := s.Run(c, []uintptr{r.Fd(), null.Fd(), null.Fd()})
		ended <- err
	})
	together := func() (most int64) {
		for _, p := range s.running() {
			most = max(most, p.together.Load())
		}
		return most
	}
	for together() < 150<<20 {
		families, err := Families()
		if err != nil {
			t.Fatal(err)
		}
		s.Measured(Limits{Memory: 1 << 40}, families)
	}
	_ = w.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if peak := s.Meter.Snapshot().PeakMemory; peak < 150<<20 {
		t.Errorf("the peak of three processes of 60 MB each is %d bytes", peak)
	}
}

// pipeAndNull returns the ends of a pipe, and the null device for reading and writing. The test closes w.
func pipeAndNull(t *testing.T) (r, w, null *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), null.Close() })
	return r, w, null
}
