package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
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
	defer func() { // else each further run of this test needs three times as much memory
		debug.FreeOSMemory()
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew
	}()
	least := ownPeak() + more
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	s.Meter.Enter(job.PhaseCompute)
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
	if peak := s.Meter.Finish()[0].PeakMemory; peak < least {
		t.Errorf("its peak is %d bytes", peak)
	}
}

// TestPeakOfWorker: programs that are over at once have no peak, also if their worker grows while they start.
func TestPeakOfWorker(t *testing.T) {
	_, _, null := pipeAndNull(t)
	l, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(-1, 0, 256<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mem) }()
	stop, grown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(grown)
		for i := 0; i < len(mem); i += os.Getpagesize() {
			select {
			case <-stop:
				return
			default:
				mem[i] = 1
			}
		}
	}()
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	s.Meter.Enter(job.PhaseCompute)
	done := make(chan struct{})
	l.Run(-1, func(*Lane) {
		defer close(done)
		for range 50 {
			p, err := s.start(&Command{Path: "/bin/true", Args: []string{"true"}, Dir: "/", Grace: time.Second}, []uintptr{null.Fd(), null.Fd(), null.Fd()}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			s.ended(p, p.wait())
		}
	})
	<-done
	close(stop)
	<-grown
	if peak := s.Meter.Finish()[0].PeakMemory; peak > 0 {
		t.Errorf("they held %d bytes", peak)
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
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	s.Meter.Enter(job.PhaseCompute)
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
	if peak := s.Meter.Finish()[0].PeakMemory; peak < 150<<20 {
		t.Errorf("the peak of three processes of 60 MB each is %d bytes", peak)
	}
}

// TestMemoryAboveLimit: pages of a mapped file, which the kernel can take back, are not above a limit of memory; private and shared ones are.
func TestMemoryAboveLimit(t *testing.T) {
	const size = 96 << 20
	file, err := os.Create(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := file.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		fd    int
		flags int
		above bool
	}{
		{"file", int(file.Fd()), unix.MAP_PRIVATE, false},
		{"shared file", int(file.Fd()), unix.MAP_SHARED, false},
		{"private", -1, unix.MAP_PRIVATE | unix.MAP_ANON, true},
		{"shared", -1, unix.MAP_SHARED | unix.MAP_ANON, true},
	} {
		for _, others := range []int{0, 1} { // a family of one is measured in another way than one of several
			pids := []int{os.Getpid(), 1 << 30}[:1+others]
			limit := probe.Unreclaimable(pids) + size/2
			mem, err := unix.Mmap(x.fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, x.flags)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < size; i += os.Getpagesize() {
				if x.above {
					mem[i] = 1
				} else {
					_ = bytes.Count(mem[i:i+1], []byte{1})
				}
			}
			f := Family{Usage: probe.Usage{RSS: 1 << 40}}
			for _, pid := range pids {
				f.Members = append(f.Members, probe.Process{PID: pid})
			}
			if above := f.memoryAbove(limit) > 0; above != x.above {
				t.Errorf("%s, %d others: above its limit: %v", x.name, others, above)
			}
			if err := unix.Munmap(mem); err != nil {
				t.Fatal(err)
			}
		}
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
