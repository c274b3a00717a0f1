package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
)

// testJob is the job whose output the tests make.
const testJob = "mapreduce-1"

func attempt(n int) job.Attempt { return job.Attempt{Job: testJob, Task: 3, N: n} }

// written returns the folder of an attempt that left a part with data.
func written(t interface{ Fatal(...any) }, spec *job.MapReduceSpec, a job.Attempt, data string) *Folder {
	f, err := NewFolder(spec, a, 3)
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewOutput(spec, a, f.Dir, "part-00003")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(o, data); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// place returns where the part of an attempt is once it is committed.
func place(f *Folder) string { return filepath.Join(f.spec.Output, f.part) }

// commit commits what an attempt left.
func commit(f *Folder) error { return f.Commit(context.Background(), 0) }

// listing returns the files below dir, folders ending with a slash.
func listing(t interface{ Fatal(...any) }, dir string) string {
	var names []string
	dir = filepath.Clean(dir)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := strings.TrimPrefix(path, dir+"/")
		if info.IsDir() {
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func prepared(t *testing.T) *job.MapReduceSpec {
	spec := &job.MapReduceSpec{Output: filepath.Join(t.TempDir(), "deep", "out put\n") + "/"}
	if err := PrepareOutput(spec, testJob); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestOutputOfAJob(t *testing.T) {
	spec := prepared(t)
	o := written(t, spec, attempt(1), "a\t1\n")
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/ _temporary/mapreduce-1/3_1/ _temporary/mapreduce-1/3_1/part-00003"; got != want {
		t.Errorf("before the commit: got %q, want %q", got, want)
	}
	if err := commit(o); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/ part-00003"; got != want {
		t.Errorf("after the commit: got %q, want %q", got, want)
	}
	o.Abort() // does not undo the commit
	for range 2 {
		if err := CommitJob(spec, testJob, 0); err != nil {
			t.Fatal(err)
		}
		if got, want := listing(t, spec.Output), "_SUCCESS part-00003"; got != want {
			t.Errorf("at the end: got %q, want %q", got, want)
		}
	}
	if data, err := os.ReadFile(place(o)); err != nil || string(data) != "a\t1\n" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestAttemptsDoNotMeet(t *testing.T) {
	spec := prepared(t)
	first, second := written(t, spec, attempt(1), "first"), written(t, spec, attempt(2), "second")
	first.Abort()
	if err := commit(first); err == nil {
		t.Error("an aborted attempt was committed")
	}
	if err := commit(second); err != nil {
		t.Fatal(err)
	}
	// The first commit was lost with its worker; another attempt replaces it.
	third := written(t, spec, attempt(3), "third")
	if err := commit(third); err != nil {
		t.Fatal(err)
	}
	if err := commit(second); err == nil {
		t.Error("a part that another attempt replaced is reported as committed")
	}
	if data, err := os.ReadFile(place(third)); err != nil || string(data) != "third" {
		t.Errorf("got %q, %v", data, err)
	}
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/ part-00003"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnfinishedOutputIsNotCommitted(t *testing.T) {
	spec := prepared(t)
	f, err := NewFolder(spec, attempt(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := commit(f); err == nil {
		t.Error("committed without a part")
	}
	o, err := NewOutput(spec, attempt(1), f.Dir, "part-00000")
	if err != nil {
		t.Fatal(err)
	}
	o.Abort()
	if _, err := o.Write([]byte("x")); err == nil {
		t.Error("written after abort")
	}
	f.Abort()
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLazyOutput(t *testing.T) {
	spec := prepared(t)
	spec.LazyOutput = true
	empty := written(t, spec, attempt(1), "")
	if err := commit(empty); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := commit(written(t, spec, attempt(1), "x")); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/ part-00003"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An attempt without data replaces a lost one that had data.
func TestLazyOutputReplaces(t *testing.T) {
	spec := prepared(t)
	spec.LazyOutput = true
	for i, data := range []string{"x", ""} {
		if err := commit(written(t, spec, attempt(i+1), data)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := listing(t, spec.Output), "_temporary/ _temporary/mapreduce-1/"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// unpacked reads a compressed file.
func unpacked(t *testing.T, path string) string {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := input.OpenSplit(context.Background(), job.Split{Ranges: []job.Range{{Path: path, Length: -1, Size: info.Size()}}}, &job.MapReduceSpec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPackedOutput(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog\t0123456789\n", 30_000)
	for compress, suffix := range map[string]string{"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2"} {
		for _, data := range []string{"", text} {
			spec := prepared(t)
			spec.Compress = compress
			o := written(t, spec, attempt(1), data)
			if err := commit(o); err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(spec.Output, "part-00003"+suffix); place(o) != want {
				t.Errorf("%s: got %s, want %s", compress, place(o), want)
			}
			if got := unpacked(t, place(o)); got != data {
				t.Errorf("%s: got %d bytes, want %d", compress, len(got), len(data))
			}
		}
	}
	if _, err := NewOutput(&job.MapReduceSpec{Compress: "lzo"}, attempt(1), t.TempDir(), "part-00000"); job.CodeOf(err) != job.CodeConfig {
		t.Errorf("lzo: got %v", err)
	}
}

func TestPrepareOutputRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"empty", "full"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "full/part-00000"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	for name, want := range map[string]job.Code{
		"file": job.CodeOutputExists, "full": job.CodeOutputExists, "empty": job.CodeOutputExists, "link": job.CodeOutputExists,
		"file/out": job.CodeIO,
	} {
		spec := &job.MapReduceSpec{Output: filepath.Join(dir, name)}
		if err := CheckOutput(t.Context(), spec); job.CodeOf(err) != want {
			t.Errorf("check %s: got %v, want code %d", name, err, want)
		}
		if err := PrepareOutput(spec, testJob); job.CodeOf(err) != want || !strings.Contains(fmt.Sprint(err), dir) {
			t.Errorf("prepare %s: got %v, want code %d", name, err, want)
		}
	}
	if err := CheckOutput(t.Context(), &job.MapReduceSpec{Output: filepath.Join(dir, "new", "deeper")}); err != nil {
		t.Error(err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("left %q, there was %q", after, before)
	}
}

func TestAbortJob(t *testing.T) {
	spec := prepared(t)
	written(t, spec, attempt(1), "half")
	for range 2 {
		if err := AbortJob(spec, testJob); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(spec.Output); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("an output without parts: got %v", err)
		}
	}
	if err := CommitJob(spec, testJob, 0); err != nil { // resumed, and completed without parts
		t.Fatal(err)
	}
	if got, want := listing(t, spec.Output), "_SUCCESS"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.RemoveAll(spec.Output); err != nil {
		t.Fatal(err)
	}
	// A resumed job continues in a folder that was removed, and keeps what it committed.
	if err := commit(written(t, spec, attempt(2), "whole")); err != nil {
		t.Fatal(err)
	}
	written(t, spec, attempt(3), "half")
	if err := AbortJob(spec, testJob); err != nil {
		t.Fatal(err)
	}
	if got, want := listing(t, spec.Output), "part-00003"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutputErrors(t *testing.T) {
	path := &os.PathError{Op: "write", Path: "/out/x", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err   error
		class job.Class
		want  string
	}{
		{path, job.Fatal, "/out/x: cannot be written: no space left on device; free space there"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EACCES}, job.User, "/out/x: cannot be written: permission denied; choose an output folder that you may write to"},
		{&os.PathError{Op: "write", Path: "/out/x", Err: syscall.EIO}, job.Transient, "/out/x: cannot be written: input/output error"},
	} {
		err := outputError("/out/x", c.err)
		if job.ClassOf(err) != c.class || job.CodeOf(err) != job.CodeIO || err.Error() != c.want {
			t.Errorf("got %v (%v)", err, job.ClassOf(err))
		}
		if again := outputError("/elsewhere", err); again != err {
			t.Errorf("reported twice: %v", again)
		}
	}
	if err := outputError("/out/x", nil); err != nil {
		t.Error(err)
	}
}

func TestOutputTakesLargeWrites(t *testing.T) {
	spec := prepared(t)
	want := bytes.Repeat([]byte("0123456789abcde\n"), 3*outBuffer/16)
	o := written(t, spec, attempt(1), string(want))
	if err := commit(o); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(place(o)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
}

// A part that somebody removed while the job ran is reported.
func TestCommitJobMissesParts(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec job.MapReduceSpec
		maps int
		good bool
	}{
		{"reduces", job.MapReduceSpec{Reduces: 2}, 5, true},
		{"maps", job.MapReduceSpec{}, 2, true},
		{"compressed", job.MapReduceSpec{Reduces: 2, Compress: "gzip"}, 1, true},
		{"a reduce's part is gone", job.MapReduceSpec{Reduces: 3}, 2, false},
		{"a map's part is gone", job.MapReduceSpec{}, 3, false},
		{"lazy", job.MapReduceSpec{Reduces: 3, LazyOutput: true}, 1, true},
	} {
		spec := tt.spec
		spec.Output = filepath.Join(t.TempDir(), "out")
		if err := PrepareOutput(&spec, testJob); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			f, err := NewFolder(&spec, attempt(1), n)
			if err != nil {
				t.Fatal(err)
			}
			o, err := NewOutput(&spec, attempt(1), f.Dir, partName(n))
			if err == nil {
				err = errors.Join(o.Close(), commit(f))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		err := CommitJob(&spec, testJob, tt.maps)
		if (err == nil) != tt.good || err != nil && (job.CodeOf(err) != job.CodeIO || !strings.Contains(err.Error(), "part-00002")) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if done := strings.Contains(listing(t, spec.Output), successName); done != tt.good {
			t.Errorf("%s: _SUCCESS is there: %v", tt.name, done)
		}
	}
}

// TestOutputOfAnotherJob checks that a job whose output the user removed while it ran changes nothing of the job that made it again: none of its
// attempts puts a part there, before and after their folders were made, and neither its end nor its abort removes or completes anything.
func TestOutputOfAnotherJob(t *testing.T) {
	spec := prepared(t)
	early := written(t, spec, attempt(1), "old")
	if err := os.RemoveAll(spec.Output); err != nil {
		t.Fatal(err)
	}
	const later = "mapreduce-10"
	if err := PrepareOutput(spec, later); err != nil {
		t.Fatal(err)
	}
	f, err := NewFolder(spec, job.Attempt{Job: later, N: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, spec.Output)
	if err = os.MkdirAll(early.Dir, 0o777); err == nil { // what arrives late makes its folder again
		err = os.WriteFile(filepath.Join(early.Dir, "part-00003"), []byte("old"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := commit(early); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("an attempt of the earlier job was committed: %v", err)
	}
	if err := os.RemoveAll(ownDir(spec, testJob)); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFolder(spec, attempt(2), 3); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("an attempt of the earlier job began: %v", err)
	}
	if err := CommitJob(spec, testJob, 0); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("the earlier job was completed: %v", err)
	}
	if err := AbortJob(spec, testJob); err != nil {
		t.Error(err)
	}
	if after := listing(t, spec.Output); after != before {
		t.Errorf("of the later job there is %q, and was %q", after, before)
	}
	f.Abort()
}
