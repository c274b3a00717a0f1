package transfer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/statedir"
)

// oneJob is a host's only job.
type oneJob struct{ *Job }

func (o oneJob) Open(job.ID) (*Job, error) { return o.Job, nil }
func (o oneJob) Check(id job.ID) error {
	if id != o.Spec.ID {
		return errors.New("no such job")
	}
	return nil
}

// streams returns a client of a server of one MapReduce job. between, where it is not nil, stands between the two.
func streams(t *testing.T, j *Job, between func(http.Handler) http.Handler) *Client {
	t.Helper()
	j.Spec.ID, j.Spec.Kind = "mr-1", job.MapReduce
	s := NewServer(oneJob{j}, filepath.Join(t.TempDir(), "notes"), slog.New(slog.DiscardHandler))
	t.Cleanup(s.Close)
	var handler http.Handler = s
	if between != nil {
		handler = between(s)
	}
	l := httptest.NewServer(handler)
	t.Cleanup(l.Close)
	return NewClient(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Listener.Addr().String())
	})
}

// lines writes a file of lines of all lengths, some of them longer than a block, and returns what is in it.
func lines(t *testing.T, path string, size int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		n := int(100 * r.ExpFloat64())
		if r.IntN(2000) == 0 {
			n = blockSize + r.IntN(blockSize)
		}
		for range n {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads a split by way of a client.
func read(c *Client, task int, split job.Split) ([]byte, int64, error) {
	var net int64
	r, err := input.OpenSplit(context.Background(), split, &job.MapReduceSpec{}, func(ctx context.Context, s job.Split, i int) (input.File, error) {
		return c.OpenRange(ctx, job.Attempt{Job: "mr-1", Task: task, N: 1}, s, i, func(n int64) { net += n })
	}, nil)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = r.Close() }()
	all, err := io.ReadAll(r)
	return all, net, err
}

// cutFile returns the splits of a file at random places.
func cutFile(path string, size int64, n int) (splits []job.Split) {
	r := rand.New(rand.NewPCG(3, 4))
	at := int64(0)
	for i := range n {
		to := at + r.Int64N(2*size/int64(n))
		if to = min(to, size); i == n-1 {
			to = size
		}
		splits = append(splits, job.Split{Ranges: []job.Range{{Path: path, Offset: at, Length: to - at, Size: size}}})
		at = to
	}
	return splits
}

// TestSplitsFromFar: what splits hold is the same from another machine, at any cuts, plain and compressed, also where blocks arrive damaged or the connection is
// cut at times; and little more is sent than is read.
func TestSplitsFromFar(t *testing.T) {
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "plain"), filepath.Join(dir, "packed.gz")
	want := lines(t, plain, 6<<20)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(want)
	if err := errors.Join(w.Close(), os.WriteFile(packed, z.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	splits := append(cutFile(plain, int64(len(want)), 9), job.Split{Ranges: []job.Range{{Path: packed, Length: -1, Size: int64(z.Len())}}})
	for name, harm := range map[string]harm{"sound": {}, "damaged": {damage: 2}, "cut": {cut: 2}} {
		t.Run(name, func(t *testing.T) {
			c := streams(t, &Job{Spec: &job.Spec{MapReduce: &job.MapReduceSpec{}}, Tasks: statedir.Tasks{Splits: splits}}, harm.between)
			var got []byte
			for i, s := range splits[:9] {
				part, net, err := read(c, i, s)
				if err != nil {
					t.Fatal(err)
				}
				if most := s.Ranges[0].Length + 6*blockSize; net > most {
					t.Errorf("%d bytes were sent for a range of %d", net, s.Ranges[0].Length)
				}
				got = append(got, part...)
			}
			if !bytes.Equal(got, want) {
				t.Error("the ranges of the plain file hold something else than the file")
			}
			if got, _, err := read(c, 9, splits[9]); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the compressed file: %v", err)
			}
		})
	}
}

// harm is what becomes of the answer to every second request: a byte is changed in the write with that number, or nothing comes from that write on; 0: neither.
type harm struct {
	damage, cut int
	always      bool // to every request, and every write from that on
}

func (h harm) between(next http.Handler) http.Handler {
	requests := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; h != (harm{}) && (h.always || requests%2 == 0) {
			w = &harmed{ResponseWriter: w, harm: h}
		}
		next.ServeHTTP(w, r)
	})
}

type harmed struct {
	http.ResponseWriter
	harm
	writes int
}

func (h *harmed) Write(p []byte) (int, error) {
	h.writes++
	if h.writes == h.cut {
		return 0, errors.New("cut")
	}
	if h.writes == h.damage || h.always {
		p = bytes.Clone(p)
		p[len(p)/2] ^= 1
	}
	return h.ResponseWriter.Write(p)
}

// TestFarInputChanges: of a file that is written to while it is sent, no byte arrives that was not listed, and the error is the one of the machine that has it.
func TestFarInputChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	before := lines(t, path, 24<<20)
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	splits, _, err := input.PlanSplits(&job.MapReduceSpec{Inputs: []string{path}, MinSplit: 1 << 30}, input.SplitOptions{Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := streams(t, &Job{Spec: &job.Spec{MapReduce: &job.MapReduceSpec{}}, Tasks: statedir.Tasks{Splits: splits}}, nil)
	f, err := c.OpenRange(t.Context(), job.Attempt{Job: "mr-1", N: 1}, splits[0], 0, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var got bytes.Buffer
	in := io.NewSectionReader(f, 0, f.Size())
	if _, err := io.CopyN(&got, in, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ToUpper(before), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(&got, in)
	if err == nil || process.FailureOf(err).Outcome != event.Broken || !strings.Contains(err.Error(), path+": input changed") {
		t.Errorf("the file was changed: %v", err)
	}
	if !bytes.HasPrefix(before, got.Bytes()) {
		t.Errorf("of %d bytes that arrived some were not listed", got.Len())
	}
}

// TestFarInputFails: a file that changed is told as on the machine where it is; a part that never arrives whole costs the attempt and not the job, and who is not
// given a split gets none.
func TestFarInputFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	size := int64(len(lines(t, path, 1<<20)))
	split := job.Split{Ranges: []job.Range{{Path: path, Length: size - 1, Size: size - 1}}}
	j := func() *Job {
		return &Job{Spec: &job.Spec{MapReduce: &job.MapReduceSpec{}}, Tasks: statedir.Tasks{Splits: []job.Split{split}}}
	}
	c := streams(t, j(), nil)
	if _, _, err := read(c, 0, split); err == nil || process.FailureOf(err).Outcome != event.Broken || !strings.Contains(err.Error(), "input changed") {
		t.Errorf("a file that changed: %v", err)
	}
	if _, _, err := read(c, 1, split); err == nil {
		t.Error("a task that is not there gets a split")
	}
	split.Ranges[0].Size = size
	c = streams(t, j(), harm{damage: 2, always: true}.between)
	var f *process.Failure
	if _, _, err := read(c, 0, split); !errors.As(err, &f) || f.Outcome != event.Lost {
		t.Errorf("always damaged: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(streams(t, j(), nil), 0, split); !errors.As(err, &f) || f.Outcome != event.Broken || !strings.Contains(f.Reason, path) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// TestParts: what an attempt leaves is in place once it is committed, and not before; a host cannot name what is another task's.
func TestParts(t *testing.T) {
	out, from := filepath.Join(t.TempDir(), "out"), t.TempDir()
	spec := &job.MapReduceSpec{Output: out, Reduces: 2, PartMode: 0o640}
	logs := filepath.Join(t.TempDir(), "logs")
	c := streams(t, &Job{Spec: &job.Spec{MapReduce: spec}, Tasks: statedir.Tasks{Splits: make([]job.Split, 3)}, Logs: logs}, nil)
	at := job.Attempt{Job: "mr-1", Task: 4, N: 2} // of the second reduce
	text := filepath.Join(from, "text")
	if err := os.WriteFile(text, []byte("a\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s Stamp
	var err error
	names := []string{"part-00001", "side/more"}
	for _, name := range names {
		if s, err = c.Send(t.Context(), at, name, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"part-00000", "part-00001.gz", "_SUCCESS", "_temporary/x", "../x", "/x", ".", "side/../../x"} {
		if _, err := c.Send(t.Context(), at, name, text); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if _, err := c.Commit(t.Context(), at, names, nil, s, 0); err == nil {
		t.Error("a commit came after its grant had lapsed, and was done")
	}
	if _, err := c.Commit(t.Context(), at, append(names, "never-sent"), nil, s, time.Minute); err == nil {
		t.Error("a file was put into place that was not sent")
	}
	if left, _ := filepath.Glob(filepath.Join(out, "[^_]*")); len(left) > 0 {
		t.Errorf("in place before the commit: %v", left)
	}
	if _, err := c.Commit(t.Context(), at, names, nil, s, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(b) != "a\t1\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if st, err := os.Stat(filepath.Join(out, names[0])); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("the part: %v, %v", st, err)
	}
	other := job.Attempt{Job: "mr-1", Task: 3, N: 1}
	if _, err := c.Send(t.Context(), other, "part-00000", text); err != nil {
		t.Fatal(err)
	}
	_, err = c.Send(t.Context(), at, files.Stderr, text)
	if err := errors.Join(c.Drop(t.Context(), other), err); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(out, "_temporary", "*", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if b, err := os.ReadFile(filepath.Join(logs, "r-00001.2.stderr")); err != nil || string(b) != "a\t1\n" {
		t.Errorf("log: %q, %v", b, err)
	}
}

// TestShipped: files and folders that a job ships arrive under their own names.
func TestShipped(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"map.sh": "#!/bin/sh\n", "lib/a/b": "deep", "lib/c": "c"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("c", filepath.Join(dir, "lib", "link")), os.Symlink(filepath.Join(dir, "map.sh"), filepath.Join(dir, "alias"))); err != nil {
		t.Fatal(err)
	}
	var files []job.ShipFile
	for _, name := range []string{"map.sh", "lib", "alias"} {
		files = append(files, job.ShipFile{Path: filepath.Join(dir, name), Name: name})
	}
	c := streams(t, &Job{Spec: &job.Spec{MapReduce: &job.MapReduceSpec{Files: files}}, Tasks: statedir.Tasks{Splits: make([]job.Split, 1)}}, nil)
	at := job.Attempt{Job: "mr-1", N: 1}
	needs, err := c.Needs(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := OpenCache(t.TempDir(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := cache.Populate(t.Context(), c, at.Job, needs, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"files/0/map.sh": "#!/bin/sh\n", "files/1/lib/a/b": "deep", "files/1/lib/c": "c", "files/1/lib/link": "c", "files/2/alias": "#!/bin/sh\n"} {
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
