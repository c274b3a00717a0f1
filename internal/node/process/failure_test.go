package process

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

func TestFailureOf(t *testing.T) {
	tests := []struct {
		err  error
		want event.Outcome
	}{
		{unix.ENOSPC, event.Broken},
		{&job.Error{Class: job.Transient, Err: unix.EDQUOT}, event.Broken},
		{&job.Error{Class: job.Fatal, What: "scratch files were damaged after they were written"}, event.Broken},
		{&job.Error{Class: job.User, What: "bad input"}, event.Failed},
		{&job.Error{Class: job.User, Code: job.CodeIO, What: "input is cut off"}, event.Broken},
		{&job.Error{Class: job.Transient, What: "once more"}, event.Failed},
		{unix.EACCES, event.Failed},
		{&Failure{Outcome: event.Killed}, event.Killed},
	}
	for _, tt := range tests {
		if got := FailureOf(tt.err).Outcome; got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

// How long an end is doubted, and what is made of it.
func TestBelieve(t *testing.T) {
	tests := []struct {
		f     Failure
		batch bool
		want  time.Duration
	}{
		{Failure{Exit: 1}, false, 0},
		{Failure{Exit: 1}, true, statusDoubt},
		{Failure{Exit: 143}, false, 0},
		{Failure{Exit: 137}, false, 0},
		{Failure{Exit: 143}, true, statusDoubt},
		{Failure{Exit: 137}, true, statusDoubt},
		{Failure{Signal: 15}, false, statusDoubt},
		{Failure{Signal: 15}, true, signalDoubt},
		{Failure{Signal: 9}, true, signalDoubt},
		{Failure{Signal: 11}, false, 0},
		{Failure{Signal: 11}, true, statusDoubt},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			begin, f := time.Now(), tt.f
			f.Outcome = event.Failed
			if err := f.Believe(t.Context(), tt.batch); err != error(&f) || time.Since(begin) != tt.want {
				t.Errorf("%+v: %v after %v, want it after %v", tt, err, time.Since(begin), tt.want)
			}
			if tt.want == 0 {
				return
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			lost := &Failure{Outcome: event.Lost}
			time.AfterFunc(tt.want-1, func() { cancel(lost) })
			if err := f.Believe(ctx, tt.batch); err != error(lost) {
				t.Errorf("%+v, when the worker is told to end: %v", tt, err)
			}
		})
	}
}

// TestNoSpace: a host without space reports attempts as lost, after pauses, and that it lacks space, so that the task waits for another host.
// The eleventh has failed, and names the host and its folder: where each disk is too small, the task would be tried for ever.
func TestNoSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := DiskFailure("host %s: %s: %v", "h1", "/scratch", unix.ENOSPC)
		for n, want := range []time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 4 * time.Second} {
			if n == 0 {
				continue
			}
			begin := time.Now()
			if f := full.AwaitPassing(t.Context(), n); f.Outcome != event.Lost || f.Lack != event.LackDisk || time.Since(begin) != want {
				t.Errorf("attempt %d: %v after %v", n, f.Outcome, time.Since(begin))
			}
		}
		if f := full.AwaitPassing(t.Context(), maxScarce+1); f.Outcome != event.Failed || f.Reason != full.Reason {
			t.Errorf("the last attempt: %+v", f)
		}
	})
}

// TestFullDisk: a failure on a disk without space names that disk; one on a disk with space, or of a file system without blocks, does not.
func TestFullDisk(t *testing.T) {
	for free, says := range map[uint64]string{0: "exit status 1; the disk of /data is full", 1: "exit status 1; the disk of /data is full", 1 << 20: "exit status 1"} {
		f := Failure{Reason: "exit status 1"}
		f.fullDisk("/data", func(_ string, s *unix.Statfs_t) error {
			s.Bsize, s.Blocks, s.Bavail = 4096, 1<<21, free
			return nil
		})
		if f.Reason != says {
			t.Errorf("%d blocks are free: %q", free, f.Reason)
		}
	}
	f := Failure{Reason: "exit status 1"}
	if f.FullDisk("/proc"); f.Reason != "exit status 1" {
		t.Errorf("of a file system without blocks: %q", f.Reason)
	}
}
