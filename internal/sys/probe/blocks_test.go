package probe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestBlocks(t *testing.T) {
	for text, want := range map[string]error{
		"rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\ncancelled_write_bytes: 5\n": nil,
		"rchar: 1\nwchar: 2\ncancelled_write_bytes: 5\n":                                ErrNoBlocks,
		"": ErrNoBlocks,
	} {
		if got := countsBlocks([]byte(text)); !errors.Is(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestMeteredCountsFiles: what a thread writes to a file is told with its processor time, as far as
// the file is on a disk.
func TestMeteredCountsFiles(t *testing.T) {
	if err := Blocks(); err != nil {
		t.Skip(err)
	}
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	var told Spent
	write := func() error { return os.WriteFile(path, make([]byte, size), 0o600) }
	if err := Metered(func(s Spent) { told = s }, write); err != nil {
		t.Fatal(err)
	}
	if told.Disk == 0 {
		t.Skip("the file system of " + t.TempDir() + " is no disk that the kernel counts")
	}
	if told.Disk < size || told.CPU <= 0 {
		t.Errorf("%+v for %d bytes", told, size)
	}
}

func BenchmarkMetered(b *testing.B) {
	var m Meter
	for b.Loop() {
		_ = Metered(m.Spent, func() error { return nil })
	}
}
