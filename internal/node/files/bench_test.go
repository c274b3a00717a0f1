package files

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// BenchmarkTaskDir compares a folder that is lent again with one that is made and removed.
func BenchmarkTaskDir(b *testing.B) {
	b.Run("lent", func(b *testing.B) {
		t := &TaskDirs{Root: b.TempDir()}
		for b.Loop() {
			dir, err := t.Acquire()
			if err == nil {
				err = t.Release(dir)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("made", func(b *testing.B) {
		dir := b.TempDir() + "/x"
		for b.Loop() {
			if err := unix.Mkdir(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			if err := unix.Rmdir(dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkOutputs makes, closes and commits the two output files of a task.
func BenchmarkOutputs(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		for _, name := range []string{"/out.", "/err."} {
			a, err := openOutput(dir+name+strconv.Itoa(n), job.Attempt{N: 1})
			if err == nil {
				err = a.Close()
			}
			if err == nil {
				err = a.Commit()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
