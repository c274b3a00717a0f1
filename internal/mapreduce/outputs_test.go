package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/job"
)

// adopted puts a map output into the store.
func adopted(t *testing.T, o *Outputs, a job.Attempt) string {
	t.Helper()
	f := writeRun(t, filepath.Join(t.TempDir(), "run"), 2, minBlock, []keptRecord{{1, "key\tvalue", 3, 1}})
	if err := o.adopt(a, f.path); err != nil {
		t.Fatal(err)
	}
	path, err := o.path(a)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOutputsHeld(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenOutputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := []job.Attempt{{Job: "mapreduce-1", Task: 0, N: 1}, {Job: "mapreduce-1", Task: 12, N: 3}, {Job: "mapreduce-2", Task: 0, N: 2}}
	for _, a := range kept {
		adopted(t, o, a)
	}
	cut := adopted(t, o, job.Attempt{Job: "mapreduce-1", Task: 5, N: 1})
	if err := os.Truncate(cut, 30); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mapreduce-1", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenOutputs(dir) // by the worker that replaces it
	if err != nil {
		t.Fatal(err)
	}
	if held := again.Held(); !slices.Equal(held, kept) {
		t.Errorf("held %v, want %v", held, kept)
	}
	if _, err := os.Stat(cut); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the damaged one stays: %v", err)
	}
	if err := errors.Join(again.Drop("mapreduce-2"), again.Remove(kept[0]), again.Remove(kept[0])); err != nil {
		t.Fatal(err)
	}
	if held := again.Held(); !slices.Equal(held, kept[1:2]) {
		t.Errorf("after dropping, held %v", held)
	}
}

func TestOutputsNames(t *testing.T) {
	o, err := OpenOutputs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []job.Attempt{
		{Job: ""}, {Job: ".."}, {Job: "../x"}, {Job: "a/b"}, {Job: ".hidden"}, {Job: "a\x00"}, {Job: job.ID(strings.Repeat("a", 200))},
		{Job: "a", Task: -1}, {Job: "a", N: -1},
	} {
		if _, err := o.Open(a, 0); err == nil || errors.Is(err, ErrNotHeld) {
			t.Errorf("%q: %v", a, err)
		}
		if err := o.adopt(a, "x"); err == nil {
			t.Errorf("%q adopted", a)
		}
	}
	if err := o.Drop("../.."); err == nil {
		t.Error("dropped a folder elsewhere")
	}
}

func TestServe(t *testing.T) {
	o, err := OpenOutputs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := job.Attempt{Job: "mapreduce-1", Task: 3, N: 2}
	path := adopted(t, o, a)
	server := httptest.NewTLSServer(o.Handler())
	defer server.Close()
	fetch := func(a job.Attempt, partition int) (Segment, error) {
		return Fetch(context.Background(), server.Client(), Location{Map: a, Addr: server.Listener.Addr().String()}, partition)
	}
	local, err := o.Open(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := fetch(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(seg.Body)
	if err := errors.Join(err, seg.Body.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := data[local.Offset : local.Offset+local.Length]; string(got) != string(want) || seg.Length != local.Length {
		t.Errorf("got %q, want %q", got, want)
	}
	if seg, err := fetch(a, 0); err != nil || seg.Length != 0 {
		t.Errorf("empty segment: %+v, %v", seg, err)
	}
	if _, err := fetch(job.Attempt{Job: "mapreduce-1", Task: 3, N: 1}, 1); !errors.Is(err, ErrNotHeld) {
		t.Errorf("not held: %v", err)
	}
	if _, err := fetch(job.Attempt{Job: "../x", Task: 3, N: 1}, 1); err == nil {
		t.Error("fetched from elsewhere")
	}
	if _, err := fetch(a, 2); err == nil {
		t.Error("fetched a partition that is not there")
	}
	flip(t, path, int64(len(data)-1), 0)
	if _, err := fetch(a, 1); !errors.Is(err, errDamaged) {
		t.Errorf("damaged index: %v", err)
	}
	for _, path := range []string{"/v1/segment/a/b/1/1", "/v1/segment/a/1/1"} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// flaky is a place that fails the first times it is asked for each map.
type flaky struct {
	*segments
	failures int
	err      error
	asked    map[int]int
}

func (f *flaky) Open(ctx context.Context, loc Location, partition int) (Segment, error) {
	f.mu.Lock()
	f.asked[loc.Map.Task]++
	n := f.asked[loc.Map.Task]
	f.mu.Unlock()
	if n <= f.failures {
		return Segment{}, f.err
	}
	return f.segments.Open(ctx, loc, partition)
}

// What may pass is tried again; what will not makes the map run again. Either way the
// others go on, and a map that is located twice counts once.
func TestShuffleFaults(t *testing.T) {
	inputs := [][]byte{text(1, 50), text(2, 50), text(3, 50)}
	for name, test := range map[string]struct {
		failures int
		err      error
		bad      bool
	}{
		"passes":      {fetchTries - 1, errors.New("connection refused"), false},
		"unreachable": {fetchTries, errors.New("connection refused"), true},
		"gone":        {1, ErrNotHeld, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, inputs...)
			want := dumbJob(c, inputs)[0]
			c.maps()
			s := &flaky{c.segments(), test.failures, test.err, map[int]int{}}
			for task := range inputs {
				s.queue <- s.location(task)
			}
			task := c.reduceTask(0, s)
			task.FetchWait = 1
			r, err := RunReduce(context.Background(), task)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.committed(r.Output); string(got) != string(want) {
				t.Error("wrong output")
			}
			if len(s.bad) > 0 != test.bad {
				t.Errorf("reported bad: %v", s.bad)
			}
		})
	}
}

// brokenOff ends bodies too early.
type brokenOff struct {
	*segments
	times int
}

func (b *brokenOff) Open(ctx context.Context, loc Location, partition int) (Segment, error) {
	seg, err := b.segments.Open(ctx, loc, partition)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.times > 0 && err == nil {
		b.times--
		body := seg.Body
		seg.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, seg.Length/2), body}
	}
	return seg, err
}

// A connection that breaks off is taken up again; half a segment is never used.
func TestShuffleBrokenOff(t *testing.T) {
	inputs := [][]byte{text(1, 5000), text(2, 5000)}
	c := newCluster(t, inputs...)
	c.remote()
	want := dumbJob(c, inputs)[0]
	c.maps()
	s := &brokenOff{c.segments(), 3}
	task := c.reduceTask(0, s)
	task.FetchWait = 1
	r, err := RunReduce(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.committed(r.Output); string(got) != string(want) {
		t.Error("wrong output")
	}
	if len(s.bad) != 0 {
		t.Errorf("reported bad: %v", s.bad)
	}
}

// Errors of Next and Leave end the attempt.
func TestReduceErrors(t *testing.T) {
	c := newCluster(t, text(1, 50))
	c.maps()
	said := errors.New("said")
	task := c.reduceTask(0, failing{said})
	if _, err := RunReduce(context.Background(), task); !errors.Is(err, said) {
		t.Errorf("next: %v", err)
	}
	task = c.reduceTask(0, c.segments())
	task.Leave = func(context.Context, job.Phase) error { return said }
	if _, err := RunReduce(context.Background(), task); !errors.Is(err, said) {
		t.Errorf("leave: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Next(context.Context) (Location, error) { return Location{}, f.err }
func (f failing) Bad(Location, error)                    {}
func (f failing) Open(context.Context, Location, int) (Segment, error) {
	return Segment{}, fmt.Errorf("not to be called")
}
