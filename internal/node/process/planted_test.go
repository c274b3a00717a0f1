package process

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/hits/plant"
	"berth/internal/sys/probe"
)

// TestPlantedCrash checks that a program that a signal ends while its functions are counted starts again
// without a failure, and that it is not counted then: what it does to itself is its own failure. So is
// another exit status, and a signal that comes from elsewhere.
func TestPlantedCrash(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("functions are counted on amd64 alone")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }() // nothing was written
	lanes, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string][]event.Outcome{
		"kill -SEGV $$":              {event.Killed, event.Failed},
		"exec sh -c 'kill -ABRT $$'": {event.Killed, event.Failed},
		"exit 139":                   {event.Killed, event.Failed},
		"kill -TERM $$":              {event.Failed},
		"exit 3":                     {event.Failed},
	} {
		c := Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Grace: time.Second,
			Planter: &plant.Planter{Dir: t.TempDir()}}
		for i, outcome := range want {
			over := make(chan *Failure, 1)
			lanes.Run(-1, func(*Lane) {
				s := &Set{Meter: probe.NewMeter(probe.Now)}
				e, err := s.Run(&c, []uintptr{null.Fd(), null.Fd(), null.Fd()})
				if err != nil {
					t.Error(err)
				}
				over <- ExitFailure(e)
			})
			if f := <-over; f == nil || f.Outcome != outcome {
				t.Errorf("%s: attempt %d ended with %+v, want %v", script, i+1, f, outcome)
			}
		}
	}
}

// TestFaulted checks which ends may have been caused by counting functions.
func TestFaulted(t *testing.T) {
	for signal := unix.Signal(1); signal < 32; signal++ {
		want := strings.Contains("SIGSEGV SIGBUS SIGILL SIGFPE SIGTRAP SIGABRT SIGSYS", unix.SignalName(signal))
		for _, e := range []Exit{{code: -1, signal: signal}, {code: 128 + int(signal)}} {
			if e.faulted() != want {
				t.Errorf("%v: %v", signal, !want)
			}
		}
	}
}
