package dashboard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

const second = job.Time(time.Second)

// toldJob is a fold to which records are given by hand.
type toldJob struct {
	*report.Spans
	fold *report.Job
	seq  uint64
}

func newHistory(w job.Work) *toldJob {
	spans := report.NewSpans()
	h := &toldJob{Spans: spans, fold: report.New(report.Info{ID: "bag-1", Spans: spans})}
	w.ID = "bag-1"
	h.tell(second, event.JobSubmitted{Work: w})
	return h
}

func (h *toldJob) tell(at job.Time, r event.Record) {
	h.seq++
	h.fold.Apply(event.Entry{Seq: h.seq, At: at, Record: r})
}

func (h *toldJob) begin(at job.Time, task, n int, node job.NodeID) {
	h.tell(at, event.AttemptStarted{Attempt: job.Attempt{Job: "bag-1", Task: task, N: n}, Node: node})
}

func (h *toldJob) over(at job.Time, task, n int, o event.Outcome, stats ...job.PhaseStat) {
	h.tell(at, event.AttemptEnded{Attempt: job.Attempt{Job: "bag-1", Task: task, N: n}, Outcome: o, Stats: stats})
}

func name(task int) string { return fmt.Sprint("t", task+1) }

// TestTimeline: each attempt is in a row of its node's own, with its phases, how it ended, and whether it was a duplicate.
func TestTimeline(t *testing.T) {
	h := newHistory(job.Work{Kind: job.Bag, Tasks: 5})
	h.begin(100*second, 0, 1, "a1/0")
	h.begin(100*second, 1, 1, "a1/0")
	h.begin(100*second, 2, 1, "a1/1")
	h.tell(101*second, event.PhaseEntered{Attempt: job.Attempt{Job: "bag-1", Task: 1, N: 1}, Phase: job.PhaseCompute})
	h.over(104*second, 0, 1, event.Done, job.PhaseStat{Phase: job.PhaseFetch, Start: 100 * second, End: 101 * second}, job.PhaseStat{Phase: job.PhaseCompute, Start: 101 * second, End: 104 * second, BytesIn: 8000})
	h.begin(104*second, 3, 1, "a1/0") // in the row that is free again
	h.over(105*second, 2, 1, event.Lost)
	h.begin(105*second, 2, 2, "a1/0")
	h.begin(106*second, 3, 2, "a1/1") // while the first runs
	h.over(107*second, 3, 1, event.Killed)
	h.over(107*second, 3, 2, event.Done)
	h.over(108*second, 1, 1, event.Failed)
	got := timeline(h.Spans, window{}, 108192*job.Time(time.Millisecond), []string{"a1/0", "a1/1"}, name)
	if got.Start != 100000 || got.Step != 16 || got.Steps != 512 || got.Attempts != 6 {
		t.Errorf("from %d in %d steps of %d ms, %d attempts", got.Start, got.Steps, got.Step, got.Attempts)
	}
	want := []laneView{
		{Node: "a1/0", Slots: 1, Cells: []string{"0 62 1 10 0 1 1 t1", "62 188 2 10 0 0 1 t1", "250 188 1 10 4 1 1 t4"}},
		{Node: "a1/0", Slots: 1, Cells: []string{"0 62 1 10 1 1 1 t2", "62 438 2 10 1 0 1 t2"}},
		{Node: "a1/0", Slots: 1, Cells: []string{"312 200 1 10 16 1 2 t3"}},
		{Node: "a1/1", Slots: 1, Cells: []string{"0 313 1 10 2 1 1 t3", "375 63 1 10 8 1 2 t4"}},
	}
	if !reflect.DeepEqual(got.Lanes, want) {
		t.Errorf("lanes:\n%+v\nwant\n%+v", got.Lanes, want)
	}
	part := timeline(h.Spans, window{103 * second, 105 * second}, 109*second, nil, name)
	if part.Start != 103000 || part.Step != 4 || part.Steps != 500 || part.Lanes[0].Cells[1] != "250 250 1 10 4 1 1 t4" {
		t.Errorf("a part of the time: %+v", part)
	}
	rates := throughput(h.Spans, window{}, 108192*job.Time(time.Millisecond))
	tasks, bytes := 0.0, 0.0
	for k := range rates.Tasks {
		tasks += rates.Tasks[k] * float64(rates.Step) / 1000
		bytes += rates.Bytes[k] * float64(rates.Step) / 1000
	}
	if len(rates.Tasks) != 128 || tasks < 1.99 || tasks > 2.01 || bytes < 7990 || bytes > 8010 {
		t.Errorf("%d steps with %g tasks and %g bytes, want 2 tasks and 8,000 bytes", len(rates.Tasks), tasks, bytes)
	}
}

// TestMapReducePhases: maps and reduces begin with phases of their own.
func TestMapReducePhases(t *testing.T) {
	h := newHistory(job.Work{Kind: job.MapReduce, Tasks: 1, Reduces: 1})
	h.begin(second, 0, 1, "a1/0")
	h.begin(second, 1, 1, "a1/0")
	got := timeline(h.Spans, window{}, 2*second, nil, name)
	for i, phase := range []job.Phase{job.PhaseMap, job.PhaseShuffle} {
		if want := fmt.Sprintf("0 500 %d ", phase); !strings.HasPrefix(got.Lanes[i].Cells[0], want) {
			t.Errorf("%q, want %q first", got.Lanes[i].Cells, want)
		}
	}
}

// TestLostAndBack: an attempt that was lost and came back is shown twice, the second time until its end.
func TestLostAndBack(t *testing.T) {
	h := newHistory(job.Work{Kind: job.Bag, Tasks: 1})
	h.begin(100*second, 0, 1, "a1/0")
	h.over(101*second, 0, 1, event.Lost)
	h.begin(102*second, 0, 1, "a1/0")
	h.over(104*second, 0, 1, event.Done)
	got := timeline(h.Spans, window{}, 104*second, nil, name)
	if want := []string{"0 125 1 10 2 1 1 t1", "250 250 1 10 0 1 1 t1"}; len(got.Lanes) != 1 || !reflect.DeepEqual(got.Lanes[0].Cells, want) {
		t.Errorf("%+v, want %q", got.Lanes, want)
	}
}

// TestTimelineIsBounded: however many nodes, slots and attempts there are, rows and cells are not more than a screen shows, and no attempt gets lost.
func TestTimelineIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, slots, rounds := rapid.IntRange(1, 150).Draw(t, "nodes"), rapid.IntRange(1, 12).Draw(t, "slots"), rapid.IntRange(1, 3).Draw(t, "rounds")
		each := job.Time(rapid.Int64Range(1, 3600e9).Draw(t, "length"))
		h, task, at := newHistory(job.Work{Kind: job.Bag, Tasks: nodes * slots * rounds}), 0, 100*second
		for range rounds {
			first := task
			for n := range nodes {
				for range slots {
					h.begin(at, task, 1, job.AllocID("a1").Node(n))
					task++
				}
			}
			at += each
			for k := first; k < task; k++ {
				h.over(at, k, 1, event.Done)
			}
		}
		v := timeline(h.Spans, window{}, at, nil, name)
		began, places := 0, 0
		for _, l := range v.Lanes {
			places += l.Slots
			if len(l.Cells) > v.Steps {
				t.Fatalf("%d cells in %d steps", len(l.Cells), v.Steps)
			}
			for _, c := range l.Cells {
				began += count(t, c)
			}
		}
		if len(v.Lanes) > maxLanes || v.Steps > maxSteps || places != nodes*slots || began != task || v.Attempts != task {
			t.Fatalf("%d lanes of %d steps for %d of %d slots; %d of %d attempts begin", len(v.Lanes), v.Steps, places, nodes*slots, began, task)
		}
	})
}

// count returns how many attempts began in a cell.
func count(t *rapid.T, text string) int {
	var begin, steps, phase, busy, marks, began int
	if _, err := fmt.Sscan(text, &begin, &steps, &phase, &busy, &marks, &began); err != nil || steps < 1 || busy < 1 || busy > 10 {
		t.Fatalf("cell %q: %v", text, err)
	}
	return began
}

// large is a run of 100,000 tasks on 64 nodes of 16 cores, the last ones of which run.
func large() (h *toldJob, until job.Time, order []string) {
	h = newHistory(job.Work{Kind: job.Bag, Tasks: 100_000})
	at, node := 100*second, func(task int) job.NodeID { return job.AllocID("a1").Node(task / 16 % 64) }
	for task := range 100_000 {
		h.begin(at, task, 1, node(task))
		if old := task - 1024; old >= 0 {
			h.over(at, old, 1, event.Done, job.PhaseStat{Phase: job.PhaseCompute, Start: at - second, End: at, BytesIn: 1000})
		}
		at += 10 * job.Time(time.Millisecond)
	}
	for n := range 64 {
		order = append(order, string(job.AllocID("a1").Node(n)))
	}
	return h, at, order
}

// TestLargeRunIsTold: 100,000 tasks make a document of less than a megabyte, and a second more of it a few kilobytes.
func TestLargeRunIsTold(t *testing.T) {
	h, at, order := large()
	before := size(t, timeline(h.Spans, window{}, at, order, name), nil)
	if before.bytes > 1<<20 {
		t.Errorf("a timeline of 100,000 tasks has %d bytes", before.bytes)
	}
	after := size(t, timeline(h.Spans, window{}, at+second, order, name), before.tree)
	if after.bytes > 32<<10 {
		t.Errorf("a second more of it has %d bytes", after.bytes)
	}
	t.Logf("%d bytes, and %d for a second more", before.bytes, after.bytes)
}

type sized struct {
	tree  any
	bytes int
}

// size returns how many bytes a view has, or its changes since another.
func size(t *testing.T, v timelineView, before any) sized {
	t.Helper()
	next, err := tree(v)
	if err != nil {
		t.Fatal(err)
	}
	told := next
	if before != nil {
		told = diff(before, next)
	}
	b, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	return sized{next, len(b)}
}

func BenchmarkLargeRun(b *testing.B) {
	h, at, order := large()
	told, err := tree(timeline(h.Spans, window{}, at, order, name))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		next, err := tree(timeline(h.Spans, window{}, at+second, order, name))
		if err != nil || len(diff(told, next)) == 0 {
			b.Fatal("nothing new")
		}
	}
}
