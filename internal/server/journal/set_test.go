package journal

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// layout returns where a set below dir keeps its journals.
func layout(dir string) func(job.ID) string {
	return func(id job.ID) string {
		if id == "" {
			return filepath.Join(dir, "server")
		}
		return filepath.Join(dir, string(id))
	}
}

// replaySet returns what a new set over dir replays.
func replaySet(t testing.TB, dir string, jobs ...job.ID) (*Set, []event.Entry, map[job.ID]int64) {
	t.Helper()
	s := NewSet(layout(dir))
	var got []event.Entry
	torn, err := s.Replay(jobs, func(e event.Entry) error {
		got = append(got, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, got, torn
}

// someRecords returns records of two jobs and of nodes, interleaved.
func someRecords() []event.Record {
	a := job.Attempt{Job: "bag-1", Task: 1, N: 1}
	b := job.Attempt{Job: "bag-2", Task: 2, N: 1}
	return []event.Record{
		event.NodeJoined{Node: "a1/0", Host: "here"},
		event.CommitGranted{Attempt: a}, event.PhaseEntered{Attempt: a, Phase: job.PhaseStore},
		event.CommitGranted{Attempt: b},
		event.NodeLost{Node: "a1/0"},
		event.JobFinalizing{Job: "bag-1"},
		event.JobFinalizing{Job: "bag-2"}, event.JobEnded{Job: "bag-2", State: event.StateDone},
	}
}

func records(entries []event.Entry) []event.Record {
	var rs []event.Record
	for _, e := range entries {
		rs = append(rs, e.Record)
	}
	return rs
}

func TestSetNumbersOnAfterReplay(t *testing.T) {
	dir := t.TempDir()
	rs := someRecords()
	var want []event.Record
	for round := range 3 {
		s, got, torn := replaySet(t, dir, "bag-1", "bag-2", "bag-3")
		if !reflect.DeepEqual(records(got), want) || len(torn) != 0 {
			t.Fatalf("round %d: got %v, torn %v", round, got, torn)
		}
		first, err := s.Append(job.Time(round), rs...)
		if err != nil || first != uint64(len(want)+1) {
			t.Fatalf("round %d: first number %d, %v", round, first, err)
		}
		want = append(want, rs...)
		if err := errors.Join(s.SyncDirty(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	server, _, err := replayed(filepath.Join(dir, "server"))
	if err != nil || len(server) != 6 {
		t.Errorf("server's journal: %v, %v", server, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bag-3")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a journal was made for a job without records: %v", err)
	}
}

// However the records are spread and batched, merged replay gives them in order.
func TestSetKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s := NewSet(layout(dir))
		pool := someRecords()
		var want []event.Record
		for range rapid.IntRange(0, 12).Draw(rt, "batches") {
			batch := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(rt, "batch")
			if _, err := s.Append(1, batch...); err != nil {
				rt.Fatal(err)
			}
			want = append(want, batch...)
			if rapid.Bool().Draw(rt, "retire") {
				if err := s.Retire("bag-1"); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		_, got, _ := replaySet(t, dir, "bag-2", "bag-1")
		if !reflect.DeepEqual(records(got), want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
		if !sort.SliceIsSorted(got, func(i, j int) bool { return got[i].Seq < got[j].Seq }) {
			rt.Fatalf("numbers out of order: %v", got)
		}
	})
}

// A full disk in the middle of a batch over several journals leaves none of it, and
// the same batch can be appended once there is room.
func TestSetTakesBackABatch(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	rs := someRecords()
	if _, err := s.Append(1, rs...); err != nil {
		t.Fatal(err)
	}
	disk := &faulty{file: s.open["bag-2"].f, room: 10, full: syscall.ENOSPC}
	s.open["bag-2"].f = disk
	if _, err := s.Append(2, rs...); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, ErrFull) {
		t.Fatalf("got %v", err)
	}
	if _, got, torn := replaySet(t, dir, "bag-1", "bag-2"); !reflect.DeepEqual(records(got), rs) || len(torn) != 0 {
		t.Fatalf("got %v, torn %v", got, torn)
	}
	disk.room = -1
	first, err := s.Append(2, rs...)
	if err != nil || first != uint64(len(rs)+1) {
		t.Fatalf("first number %d, %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := replaySet(t, dir, "bag-1", "bag-2"); !reflect.DeepEqual(records(got), slices.Concat(rs, rs)) {
		t.Fatalf("got %v", got)
	}
}

// A journal that refuses all entries, as a sync of it failed, is not taken for one that waits for room.
func TestSetOfABrokenJournal(t *testing.T) {
	s := NewSet(layout(t.TempDir()))
	rs := someRecords()
	if _, err := s.Append(1, rs...); err != nil {
		t.Fatal(err)
	}
	j := s.open["bag-2"]
	j.f = &faulty{file: j.f, room: -1, syncErr: syscall.ENOSPC}
	if err := j.Sync(); err == nil {
		t.Fatal("the sync does not fail")
	}
	if _, err := s.Append(2, rs...); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
}

// TestSetOnAReadOnlyDisk: a disk that became read-only is not waited for. The error says once what failed, and what to do.
func TestSetOnAReadOnlyDisk(t *testing.T) {
	s := NewSet(layout(t.TempDir()))
	rs := someRecords()
	if _, err := s.Append(1, rs...); err != nil {
		t.Fatal(err)
	}
	j := s.open["bag-2"]
	j.f = &faulty{file: j.f, full: syscall.EROFS, truncateErr: syscall.EROFS}
	_, err := s.Append(2, rs...)
	if err == nil || errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "make it writable again") || strings.Count(err.Error(), "take back") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestSetReportsAndCutsTornTails(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	rs := someRecords()
	if _, err := s.Append(1, rs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bag-2")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	s, got, torn := replaySet(t, dir, "bag-1", "bag-2")
	if !reflect.DeepEqual(records(got), rs[:len(rs)-1]) || len(torn) != 1 || torn["bag-2"] == 0 {
		t.Fatalf("got %v, torn %v", got, torn)
	}
	if first, err := s.Append(2, rs[len(rs)-1]); err != nil || first != uint64(len(rs)) {
		t.Fatalf("first number %d, %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, got, torn := replaySet(t, dir, "bag-1", "bag-2"); !reflect.DeepEqual(records(got), rs) || len(torn) != 0 {
		t.Fatalf("got %v, torn %v", got, torn)
	}
}

func TestSetRefuses(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	if _, err := s.Append(1, someRecords()...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "bag-1"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "bag-9"), data)

	keep := func(event.Entry) error { return nil }
	if _, err := NewSet(layout(dir)).Replay([]job.ID{"bag-9"}, keep); err == nil || !strings.Contains(err.Error(), `belongs to "bag-1"`) {
		t.Errorf("a journal in another job's place: %v", err)
	}
	if _, err := NewSet(layout(dir)).Replay([]job.ID{"bag-1", "bag-9"}, keep); err == nil || !strings.Contains(err.Error(), "is also in") {
		t.Errorf("a journal and its copy: %v", err)
	}
	if _, err := NewSet(layout(dir)).Append(1, event.JobFinalizing{Job: "bag-1"}); err == nil || !strings.Contains(err.Error(), "not replayed") {
		t.Errorf("appended to a journal that was not replayed: %v", err)
	}
	stop := errors.New("enough")
	if _, err := NewSet(layout(dir)).Replay([]job.ID{"bag-1"}, func(event.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
}

// Journals that do not overlap are read one after the other, so that a thousand old
// runs do not need a thousand open files.
func TestMergeOpensLate(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	ids := []job.ID{"bag-1", "bag-2", "bag-3", "bag-4"}
	for _, id := range ids {
		if _, err := s.Append(1, event.JobFinalizing{Job: id}, event.JobEnded{Job: id, State: event.StateDone}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	n := 0
	_, err := NewSet(layout(dir)).Replay(ids, func(event.Entry) error {
		if now := openFiles(t); now > before+1 {
			t.Errorf("%d files open, %d before", now, before)
		}
		n++
		return nil
	})
	if err != nil || n != 8 {
		t.Errorf("%d entries, %v", n, err)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func TestSetSyncsWhileAppending(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 10 {
			if err := s.SyncDirty(); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 50 {
		if _, err := s.Append(job.Time(i), someRecords()...); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if err := s.Retire("bag-1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := replaySet(t, dir, "bag-1", "bag-2"); len(got) != 50*len(someRecords()) {
		t.Errorf("%d entries", len(got))
	}
}
