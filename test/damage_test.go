package test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
)

// The mapper of these tests waits until a file exists, in the one split that contains the word "wait".
const waitingMapper = `#!/bin/sh
tee held.$$ | tr -s ' ' '\n'
if grep -q wait held.$$; then while [ ! -e %s ]; do sleep 0.2; done; fi
`

// TestFlippedByte flips one byte of a finished map output. The damage must be
// detected, the map run again, and the output be right.
func TestFlippedByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		w.write(fmt.Sprintf("in/%d.txt", i), words(rand.New(rand.NewPCG(1, uint64(i))), 5000))
	}
	w.write("in/3.txt", "wait\n")
	w.write("map.sh", fmt.Sprintf(waitingMapper, filepath.Join(w.dir, "go")))
	args := func(out string) []string {
		return []string{"mapreduce", "--workers", "2", "-inputformat", "TextInputFormat", "-input", "in", "-output", out,
			"-mapper", "map.sh", "-reducer", "uniq -c", "-numReduceTasks", "1", "-D", "mapreduce.job.reduce.slowstart.completedmaps=1.0"}
	}
	w.write("go", "")
	w.must(args("reference")...)
	if err := os.Remove(filepath.Join(w.dir, "go")); err != nil {
		t.Fatal(err)
	}

	r := w.start(args("out")...)
	w.await("the job to be there", func() bool { return len(w.jobs()) == 2 })
	id := w.jobs()[1]
	w.await("three maps to be done", func() bool {
		done := 0
		for _, e := range w.tryRecords(id) {
			if a, ok := e.Record.(event.AttemptEnded); ok && a.Outcome == event.Done {
				done++
			}
		}
		return done == 3
	})
	flipByte(t, largest(t, filepath.Join(w.home().Dir, "scratch"), filepath.Join("outputs", string(id))))
	w.write("go", "")
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	if got, want := w.output("out"), w.output("reference"); got != want {
		t.Errorf("the output is wrong: %d bytes, want %d", len(got), len(want))
	}
	lost := 0
	for _, e := range w.records(id) {
		if _, ok := e.Record.(event.OutputLost); ok {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d map outputs were found damaged, want 1", lost)
	}
}

// largest returns the largest file whose path is below a folder and contains part. Files may disappear meanwhile.
func largest(t *testing.T, dir, part string) string {
	t.Helper()
	var path string
	var size int64
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(p, part) {
			var st fs.FileInfo
			if st, err = d.Info(); err == nil && st.Size() > size {
				path, size = p, st.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil || path == "" {
		t.Fatalf("no file of %s found in %s: %v", part, dir, err)
	}
	return path
}

// flipByte flips a byte in the middle of a file.
func flipByte(t *testing.T, path string) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	flipAt(t, path, st.Size()/2)
}

// flipFirst damages the first record of a journal that has further records. Damage to the last record
// would count as an interrupted write.
func flipFirst(t *testing.T, journal string) { t.Helper(); flipAt(t, journal, 40) }

func flipAt(t *testing.T, path string, at int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x10
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull fills the scratch folder. The job must fail with a clear line and
// exit code 5, and continue after space was freed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	scratch := filepath.Join(w.root, "small")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("berth-test", scratch, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(scratch, unix.MNT_DETACH) })
	var in strings.Builder
	rng := rand.New(rand.NewPCG(3, 3))
	for range 60000 {
		fmt.Fprintf(&in, "%016x%016x\n", rng.Uint64(), rng.Uint64())
	}
	w.write("in.txt", in.String())
	args := func(out string, more ...string) []string {
		return append([]string{"mapreduce", "-input", "in.txt", "-output", out, "-mapper", "cat", "-reducer", "cat",
			"-D", "mapreduce.input.fileinputformat.split.maxsize=200000"}, more...)
	}
	w.must(args("reference")...)

	res := w.berth(args("out", "--scratch", scratch)...)
	if res.code != 5 || !strings.Contains(res.stderr, "no space left") || !strings.Contains(res.stderr, scratch) {
		t.Fatalf("want exit 5 and the full folder named: %v", res)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "out", "_SUCCESS")); err == nil {
		t.Error("a job that failed wrote _SUCCESS")
	}
	if err := unix.Mount("berth-test", scratch, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	id := w.jobs()[1]
	if res := w.berth("resume", string(id)); res.code != 0 {
		t.Fatal(res)
	}
	if w.output("out") != w.output("reference") {
		t.Error("the resumed job's output is wrong")
	}
	checkOnce(t, w.records(id))
}
