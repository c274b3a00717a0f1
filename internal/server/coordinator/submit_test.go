package coordinator

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/journal"
)

// TestNoRoom: a job for which the state folder has no room is refused, also to be resumed, and nothing of it is recorded.
// The coordinator goes on, and takes the same job once there is room.
func TestNoRoom(t *testing.T) {
	s := running(t, options(t))
	over := bag(t, s, 2)
	if l := s.lookup(over); l != nil {
		_, archived := l.ends()
		<-archived
	}
	id := prepared(t, s, 100)
	s.room = func(_ string, bytes int) error {
		if bytes < spareRoom {
			t.Errorf("room for %d bytes is enough", bytes)
		}
		return syscall.ENOSPC
	}
	resumed := s.resume(t.Context(), over, control.Resume{Failed: true})
	for _, err := range []error{s.submit(id), resumed} {
		if !errors.Is(err, syscall.ENOSPC) || job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "no room for this job") {
			t.Errorf("without room the error is %v", err)
		}
	}
	if _, err := os.Stat(s.home.JournalOf(id)); err == nil || s.lookup(id) != nil {
		t.Error("a job that was refused is recorded")
	}
	s.room = func(string, int) error { return nil }
	if err := s.submit(id); err != nil {
		t.Errorf("with room the job is not taken: %v", err)
	}
}

// TestJournalWithoutRecords: jobs whose journals lost their records in a crash of the machine can be submitted again.
func TestJournalWithoutRecords(t *testing.T) {
	opts := options(t)
	s, _ := stopped(t, opts)
	cut := map[job.ID]int64{prepared(t, s, 1): 0, prepared(t, s, 1): 7, prepared(t, s, 1): 16}
	for id, size := range cut {
		j, err := journal.Create(s.home.JournalOf(id))
		if err == nil {
			err = errors.Join(j.Close(), os.Truncate(s.home.JournalOf(id), size))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.own.Release()
	s = running(t, opts)
	for id, size := range cut {
		if err := s.submit(id); err != nil || s.lookup(id) == nil {
			t.Errorf("with %d bytes of its journal the job is not taken: %v", size, err)
		}
	}
}
