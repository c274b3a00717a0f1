package mapreduce

import (
	"context"
	"errors"
	"io"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/shuffle"
)

// flaky is a source that fails at the first requests for each map.
type flaky struct {
	*segments
	failures int
	err      error
	asked    map[int]int
}

func (f *flaky) Open(ctx context.Context, loc shuffle.Location, partition int) (shuffle.Segment, error) {
	f.mu.Lock()
	f.asked[loc.Attempt.Task]++
	n := f.asked[loc.Attempt.Task]
	f.mu.Unlock()
	if n <= f.failures {
		return shuffle.Segment{}, f.err
	}
	return f.c.reader.Open(ctx, loc, partition)
}

// After a transient failure the fetch is tried again; after another the map runs again. Meanwhile the
// other fetches continue, and a map that is located twice counts once.
func TestShuffleFaults(t *testing.T) {
	inputs := [][]byte{text(1, 50), text(2, 50), text(3, 50)}
	for name, test := range map[string]struct {
		failures int
		err      error
		bad      bool
	}{
		"passes":      {3, errors.New("connection refused"), false},
		"unreachable": {4, errors.New("connection refused"), true},
		"gone":        {1, shuffle.ErrNotHeld, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, inputs...)
			want := dumbJob(c, inputs)[0]
			c.maps()
			s := &flaky{c.segments(), test.failures, test.err, map[int]int{}}
			for task := range inputs {
				s.places.Add(s.location(task))
			}
			task := c.reduceTask(0, s.segments)
			task.Source.Open, task.Source.Wait = s.Open, 1
			err := RunReduce(context.Background(), task)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.committed(task.Left); string(got) != string(want) {
				t.Error("wrong output")
			}
			if len(s.bad) > 0 != test.bad {
				t.Errorf("reported bad: %v", s.bad)
			}
		})
	}
}

// brokenOff ends the bodies of answers too early.
type brokenOff struct {
	*segments
	times int
}

func (b *brokenOff) Open(ctx context.Context, loc shuffle.Location, partition int) (shuffle.Segment, error) {
	seg, err := b.c.reader.Open(ctx, loc, partition)
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

// After a connection is lost the segment is fetched again. Half a segment is never used.
func TestShuffleBrokenOff(t *testing.T) {
	inputs := [][]byte{text(1, 5000), text(2, 5000)}
	c := newCluster(t, inputs...)
	c.remote()
	want := dumbJob(c, inputs)[0]
	c.maps()
	s := &brokenOff{c.segments(), 3}
	task := c.reduceTask(0, s.segments)
	task.Source.Open, task.Source.Wait = s.Open, 1
	err := RunReduce(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.committed(task.Left); string(got) != string(want) {
		t.Error("wrong output")
	}
	if len(s.bad) != 0 {
		t.Errorf("reported bad: %v", s.bad)
	}
}

// An error of a request for a grant ends the attempt.
func TestReduceErrors(t *testing.T) {
	c := newCluster(t, text(1, 50))
	c.maps()
	said := errors.New("said")
	task := c.reduceTask(0, c.segments())
	task.Enter = asking(task.Progress, func(job.Phase) error { return said })
	if err := RunReduce(context.Background(), task); !errors.Is(err, said) {
		t.Errorf("leave: %v", err)
	}
}
