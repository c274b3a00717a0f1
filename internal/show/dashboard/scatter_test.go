package dashboard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestScatter: each attempt is a point at its start with its time, its end and its node, the slowest node first; one that runs has the time so far, and
// only those that began in the window are there.
func TestScatter(t *testing.T) {
	h := newHistory(job.Work{Kind: job.MapReduce, Tasks: 4, Reduces: 1})
	h.begin(100*second, 0, 1, "a1/0")
	h.begin(110*second, 1, 1, "a1/1")
	h.begin(120*second, 2, 1, "a1/0")
	h.over(120*second, 0, 1, event.Done)
	h.over(150*second, 1, 1, event.Done)
	h.over(151*second, 2, 1, event.Failed)
	h.begin(152*second, 4, 1, "a1/1")
	got := scatter(h.Spans, window{}, 160*second)
	want := scatterView{Attempts: 4, Nodes: []string{"a1/1", "a1/0"}, Points: []string{"100000 20000 0 0 1", "110000 40000 0 0 0", "120000 31000 1 0 1", "152000 8000 16 1 0"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if part := scatter(h.Spans, window{105 * second, 121 * second}, 160*second); part.Attempts != 2 || !reflect.DeepEqual(part.Points, want.Points[1:3]) {
		t.Errorf("a part of the time: %+v", part)
	}
	if none := scatter(newHistory(job.Work{Kind: job.Bag, Tasks: 1}).Spans, window{}, second); none.Attempts != 0 || len(none.Points) != 0 {
		t.Errorf("without attempts: %+v", none)
	}
}

// TestScatterOfLargeRun: 100,000 attempts become few points, among them each straggler and each failure.
func TestScatterOfLargeRun(t *testing.T) {
	h, at, _ := large()
	for task := range 1024 { // the last ones end together, but for a straggler; some fail
		if task == 7 {
			continue
		}
		o := event.Done
		if task%256 == 0 {
			o = event.Failed
		}
		h.over(at, 100_000-1024+task, 1, o)
	}
	h.over(at+200*second, 100_000-1024+7, 1, event.Done)
	v := scatter(h.Spans, window{}, at+200*second)
	failed, longest := 0, int64(0)
	for _, text := range v.Points {
		p := numbers(t, text)
		if p[2] == markFailed {
			failed++
		}
		longest = max(longest, p[1])
	}
	if v.Attempts != 100_000 || len(v.Points) > 1000 || len(v.Nodes) != namedNodes || failed == 0 || longest < 200_000 {
		t.Errorf("%d points of %d attempts, %d failed, the longest %d ms, nodes %v", len(v.Points), v.Attempts, failed, longest, v.Nodes)
	}
	if b, err := json.Marshal(v); err != nil || len(b) > 64<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// numbers returns the numbers of a text.
func numbers(t *testing.T, text string) (p [5]int64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &p[0], &p[1], &p[2], &p[3], &p[4]); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}

// TestScatterIsBounded: times of any length and spread make no more points than the grid has spots.
func TestScatterIsBounded(t *testing.T) {
	h := newHistory(job.Work{Kind: job.Bag, Tasks: 20_000})
	at := 100 * second
	for task := range 20_000 {
		h.begin(at, task, 1, "a1/0")
		h.over(at.Add(time.Duration(task*7919%20_000)*time.Millisecond), task, 1, event.Done)
		at = at.Add(time.Duration(task*104729%300) * time.Millisecond)
	}
	if v := scatter(h.Spans, window{}, at); v.Attempts != 20_000 || len(v.Points) > scatterRows*scatterCols || len(v.Points) < 1000 {
		t.Errorf("%d points of %d", len(v.Points), v.Attempts)
	}
}
