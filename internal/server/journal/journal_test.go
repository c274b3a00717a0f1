package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

func TestCreateIsExclusiveAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode() != mode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "journal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

func TestBatchesReplayInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := entriesOf("bag-1", 40)
	if err := errors.Join(j.Append(entries[:15]...), j.Append(), j.Append(entries[15:]...), j.Sync(), j.Close()); err != nil {
		t.Fatal(err)
	}
	got, rec, err := replayed(path)
	if err != nil || rec.LastSeq != 40 {
		t.Fatalf("%+v, %v", rec, err)
	}
	sameEntries(t, got, entries)
	stop := errors.New("enough")
	n := 0
	_, err = Replay(path, func(event.Entry) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if err != stop || n != 3 {
		t.Errorf("stopped after %d with %v", n, err)
	}
}

func TestReplayRefusesNumbersOutOfOrder(t *testing.T) {
	entries := entriesOf("bag-1", 3)
	entries[2].Seq = 2
	path, _, starts := written(t, entries)
	got, _, err := replayed(path)
	sameEntries(t, got, entries[:2])
	if err == nil || !strings.Contains(err.Error(), "number 2 but follows number 2") {
		t.Errorf("frame at %d: %v", starts[2], err)
	}
}

func TestOpenAtRefusesAFileThatGrew(t *testing.T) {
	path, _, _ := written(t, entriesOf("bag-1", 3))
	_, rec, err := replayed(path)
	if err != nil {
		t.Fatal(err)
	}
	rec.End--
	if _, err := OpenAt(path, rec); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
}

// A full disk loses the batch that does not fit and nothing else, wherever in the
// batch the disk is full; once there is room, appending goes on.
func TestFullDisk(t *testing.T) {
	entries := entriesOf("bag-1", 8)
	_, data, starts := written(t, entries)
	size := len(data) - int(starts[4])
	for room := range size {
		mem := &memory{}
		disk := &faulty{file: mem, room: -1, full: syscall.ENOSPC}
		j := &Journal{path: "run/journal", f: disk}
		if err := errors.Join(j.begin(), j.Append(entries[:4]...)); err != nil {
			t.Fatal(err)
		}
		disk.room = room
		var e *job.Error
		err := j.Append(entries[4:]...)
		if !errors.As(err, &e) || !errors.Is(err, syscall.ENOSPC) || e.Where != j.path || !strings.Contains(e.Do, "free space") {
			t.Fatalf("room for %d: %v", room, err)
		}
		got, rec, err := fromMemory(mem.data)
		if err != nil || rec.TruncatedBytes != 0 {
			t.Fatalf("room for %d: %+v, %v", room, rec, err)
		}
		sameEntries(t, got, entries[:4])
		disk.room = -1
		if err := errors.Join(j.Append(entries[6:]...), j.Close()); err != nil {
			t.Fatalf("room again: %v", err)
		}
		got, _, err = fromMemory(mem.data)
		if err != nil {
			t.Fatal(err)
		}
		sameEntries(t, got, append(entries[:4:4], entries[6:]...))
	}
}

// If the remains of a short write cannot be removed, nothing may be written over
// them: shorter records would leave whole old ones behind.
func TestShortWriteThatCannotBeTakenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	entries := entriesOf("bag-1", 8)
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	disk := &faulty{file: j.f, room: 250, full: syscall.ENOSPC, truncateErr: syscall.EIO}
	j.f = disk
	if err := j.Append(entries...); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	disk.room, disk.truncateErr = -1, nil
	if err := j.Append(entries[3]); !errors.Is(err, syscall.EIO) {
		t.Fatalf("taken after all: %v", err)
	}
	if err := j.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("closed with %v", err)
	}
	got, rec, err := replayed(path)
	if err != nil || rec.TruncatedBytes == 0 {
		t.Fatalf("%+v, %v", rec, err)
	}
	sameEntries(t, got, entries[:len(got)])
}

func TestSyncOnlyWhenDirtyAndNeverAfterAFailure(t *testing.T) {
	j, err := Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	disk := &faulty{file: j.f, room: -1}
	j.f = disk
	if err := errors.Join(j.Sync(), j.Sync()); err != nil || disk.syncs != 1 { // the header
		t.Fatalf("%d syncs, %v", disk.syncs, err)
	}
	if err := errors.Join(j.Append(entriesOf("bag-1", 1)...), j.Sync(), j.Sync()); err != nil || disk.syncs != 2 {
		t.Fatalf("%d syncs, %v", disk.syncs, err)
	}
	disk.syncErr = syscall.EIO
	if err := errors.Join(j.Append(entriesOf("bag-1", 1)...), j.Sync()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	disk.syncErr = nil
	if err := j.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("a failed sync was forgotten: %v", err)
	}
	if err := j.Append(entriesOf("bag-1", 1)...); !errors.Is(err, syscall.EIO) {
		t.Errorf("appended after a failed sync: %v", err)
	}
}

// TestFirstSyncWritesTheName: the first sync of a new journal brings its name to the disk too, and only that one: it needs the folder.
func TestFirstSyncWritesTheName(t *testing.T) {
	for _, synced := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		j, err := Create(filepath.Join(dir, "journal"))
		if err != nil {
			t.Fatal(err)
		}
		if synced {
			err = j.Sync()
		}
		if err := errors.Join(err, os.Rename(dir, dir+" moved"), j.Append(entriesOf("bag-1", 1)...)); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); synced != (err == nil) {
			t.Errorf("synced before the folder was moved: %t; then: %v", synced, err)
		}
	}
}

func TestClosedJournal(t *testing.T) {
	j, err := Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(entriesOf("bag-1", 1)...), j.Close(), j.Sync()); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(entriesOf("bag-1", 1)...); err == nil {
		t.Error("appended to a closed journal")
	}
}

// Appends, syncs and replays at the same time: each replay sees a beginning of what
// was appended.
func TestAppendSyncAndReplayTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := entriesOf("bag-1", 60)
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, e := range entries {
			if err := j.Append(e); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range 10 {
			if err := j.Sync(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 20 {
		got, _, err := replayed(path)
		if err != nil {
			t.Fatal(err)
		}
		sameEntries(t, got, entries[:len(got)])
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, err := replayed(path)
	if err != nil {
		t.Fatal(err)
	}
	sameEntries(t, got, entries)
}

func TestRecordTooLargeIsRefusedBeforeItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	good := entriesOf("bag-1", 1)[0]
	huge := event.Entry{Seq: 2, Record: event.OutputLost{Reason: strings.Repeat("x", event.MaxSize)}}
	if err := j.Append(good, huge); err == nil {
		t.Error("taken")
	}
	if _, rec, err := replayed(path); err != nil || rec.LastSeq != 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"one", 1}, {"batch of 100", 100}} {
		b.Run(size.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "journal")
			j, err := Create(path)
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			entries := make([]event.Entry, size.n)
			a := job.Attempt{Job: "bag-17", Task: 123456, N: 1}
			for i := range entries {
				entries[i] = event.Entry{Seq: uint64(i + 1), At: 1_700_000_000e9, Record: event.AttemptStarted{Attempt: a, Node: "a3/0", Through: job.PhaseStore}}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := j.Append(entries...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*size.n)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	const n = 100_000
	entries := make([]event.Entry, 0, n)
	for len(entries) < n {
		entries = append(entries, entriesOf("bag-17", 40)...)
	}
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	path, data, _ := written(b, entries)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if rec, err := Replay(path, func(event.Entry) error { return nil }); err != nil || rec.LastSeq != uint64(n) {
			b.Fatal(rec, err)
		}
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "entries/s")
}
