package report_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// history draws records that an engine could have written, and keeps a plain
// account of what they come to.
type history struct {
	work    job.Work
	entries []event.Entry
	at      job.Time
	live    []job.Attempt
	phase   map[job.Attempt]int
	started map[int]int  // attempts by task
	done    map[int]bool // by task
	fails   map[int]int
	ended   int                  // attempts
	lost    map[job.Attempt]bool // given up, not back
	again   map[int]bool         // tasks whose last attempt asked for the next one
	wanted  map[int]int          // by task: attempts that the one before asked for, or that follow one that did not begin
	node    map[job.Attempt]job.NodeID
	behind  map[job.Attempt]job.Attempt // by attempt that has not begun: the one before it
}

func newHistory(t *rapid.T) *history {
	h := &history{phase: map[job.Attempt]int{}, started: map[int]int{}, done: map[int]bool{}, fails: map[int]int{},
		lost: map[job.Attempt]bool{}, again: map[int]bool{}, wanted: map[int]int{}, node: map[job.Attempt]job.NodeID{}, behind: map[job.Attempt]job.Attempt{}}
	h.work = job.Work{ID: "j-1", Kind: job.Bag, Tasks: rapid.IntRange(1, 6).Draw(t, "tasks"), Terms: job.Terms{MaxFails: -1}}
	h.work.Attempts = rapid.IntRange(1, 3).Draw(t, "attempts")
	if rapid.Bool().Draw(t, "mapreduce") {
		h.work.Kind, h.work.ReduceAttempts = job.MapReduce, h.work.Attempts
		h.work.Reduces = rapid.IntRange(0, 3).Draw(t, "reduces")
	}
	h.add(t, event.JobSubmitted{Work: h.work})
	return h
}

func (h *history) add(t *rapid.T, r event.Record) {
	h.at = h.at.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
	h.entries = append(h.entries, event.Entry{Seq: uint64(len(h.entries) + 1), At: h.at, Record: r})
}

func (h *history) failed(task int) bool { return h.fails[task] >= h.work.Attempts }

func (h *history) start(t *rapid.T) {
	task := rapid.IntRange(0, h.work.Total()-1).Draw(t, "task")
	if h.done[task] || h.failed(task) || h.waits(task) {
		return
	}
	h.started[task]++
	if h.again[task] {
		h.wanted[task]++
		h.again[task] = false
	}
	a := job.Attempt{Job: h.work.ID, Task: task, N: h.started[task]}
	r := event.AttemptStarted{Attempt: a, Node: job.AllocID("a1").Node(rapid.IntRange(0, 2).Draw(t, "rank"))}
	if lead, ok := h.lead(r.Node); ok && !h.runs(task) && rapid.Bool().Draw(t, "behind") {
		h.behind[a], r.Behind = lead, lead.Task+1
	}
	h.live, h.node[a] = append(h.live, a), r.Node
	h.add(t, r)
}

// lead returns an attempt on the node that no other is behind.
func (h *history) lead(node job.NodeID) (lead job.Attempt, ok bool) {
	for _, a := range h.live {
		led := slices.ContainsFunc(h.live, func(o job.Attempt) bool { return h.behind[o] == a || o != a && o.Task == a.Task })
		if h.node[a] == node && !led {
			return a, true
		}
	}
	return lead, false
}

// waits reports whether an attempt of the task is behind another: then there is no second one.
func (h *history) waits(task int) bool {
	return slices.ContainsFunc(h.live, func(a job.Attempt) bool { return a.Task == task && h.behind[a].N > 0 })
}

// begun returns the attempts that are not behind others.
func (h *history) begun() (all []job.Attempt) {
	for _, a := range h.live {
		if _, behind := h.behind[a]; !behind {
			all = append(all, a)
		}
	}
	return all
}

func (h *history) enter(t *rapid.T) {
	begun := h.begun()
	if len(begun) == 0 {
		return
	}
	a := rapid.SampledFrom(begun).Draw(t, "attempt")
	phases := h.work.TaskKind(a.Task).Phases()
	if h.phase[a]+1 < len(phases) {
		h.phase[a]++
		h.add(t, event.PhaseEntered{Attempt: a, Phase: phases[h.phase[a]]})
	}
}

func (h *history) end(t *rapid.T) {
	if len(h.live) == 0 {
		return
	}
	i := rapid.IntRange(0, len(h.live)-1).Draw(t, "attempt")
	a := h.live[i]
	o := event.Outcome(rapid.IntRange(int(event.Done), int(event.Requeued)).Draw(t, "outcome"))
	if (h.done[a.Task] || h.failed(a.Task)) && (o == event.Done || o == event.Failed) {
		o = event.Killed
	}
	h.live = append(h.live[:i:i], h.live[i+1:]...)
	h.ended++
	r := event.AttemptEnded{Attempt: a, Outcome: o}
	lead, waited := h.behind[a]
	delete(h.behind, a)
	for _, next := range h.live {
		if h.behind[next] == a {
			if h.behind[next] = lead; !waited {
				delete(h.behind, next)
			}
		}
	}
	switch o {
	case event.Killed:
		if r.Returned = waited; waited {
			h.again[a.Task] = true
		}
	case event.Done:
		h.done[a.Task] = true
		for _, p := range h.work.TaskKind(a.Task).Phases() {
			r.Stats = append(r.Stats, job.PhaseStat{Phase: p, Start: h.at, End: h.at.Add(1e9), BytesIn: 10, BytesOut: 5})
		}
		r.Counters = map[string]int64{"app,tasks": 1}
	case event.Failed:
		h.fails[a.Task]++
	case event.Lost:
		h.lost[a] = true
	case event.Requeued:
		h.again[a.Task] = !h.done[a.Task] && !h.runs(a.Task)
	}
	h.add(t, r)
}

func (h *history) runs(task int) bool {
	return slices.ContainsFunc(h.live, func(a job.Attempt) bool { return a.Task == task })
}

// back lets an attempt that was given up go on, or its result come.
func (h *history) back(t *rapid.T) {
	for task := range h.work.Total() {
		a := job.Attempt{Job: h.work.ID, Task: task, N: h.started[task]}
		if !h.lost[a] || h.done[task] || h.failed(task) {
			continue
		}
		delete(h.lost, a)
		if waits := !slices.ContainsFunc(h.live, func(o job.Attempt) bool { return o.Task == task }); waits && h.work.Reduces == 0 && rapid.Bool().Draw(t, "late") {
			h.done[task] = true
			h.ended++
			h.add(t, event.AttemptEnded{
				Attempt: a, Outcome: event.Done, Counters: map[string]int64{"app,tasks": 1},
				Stats: []job.PhaseStat{{Phase: h.work.TaskKind(task).Phases()[0], BytesIn: 10}, {Phase: job.PhaseCompute, BytesIn: 10}},
			})
			return
		}
		h.live, h.node[a] = append(h.live, a), "a1/0"
		h.add(t, event.AttemptStarted{Attempt: a, Node: "a1/0"})
		return
	}
}

func (h *history) lose(t *rapid.T) {
	task := rapid.IntRange(0, h.work.Tasks-1).Draw(t, "map")
	if h.work.Reduces == 0 || !h.done[task] {
		return
	}
	delete(h.done, task)
	h.add(t, event.OutputLost{Job: h.work.ID, Task: task})
}

func (h *history) resume(t *rapid.T) {
	for len(h.live) > 0 {
		h.end(t)
	}
	h.add(t, event.JobEnded{Job: h.work.ID, State: event.StateFailed})
	again := rapid.Bool().Draw(t, "again")
	h.add(t, event.JobResumed{Job: h.work.ID, Failed: again})
	for task := range h.work.Total() {
		if h.done[task] || h.failed(task) && !again && h.work.Kind == job.Bag {
			continue // stays done, with the failures before, or failed
		}
		delete(h.fails, task)
	}
}

func fold(entries []event.Entry) (*report.Job, []report.AttemptRow) {
	var rows []report.AttemptRow
	j := report.New(report.Info{ID: "j-1", OnAttempt: func(r report.AttemptRow) { rows = append(rows, r) }})
	for _, e := range entries {
		j.Apply(e)
	}
	return j, rows
}

// TestFoldAgreesWithAccount: whatever happens, the view counts what a plain account counts.
func TestFoldAgreesWithAccount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		moves := []func(*rapid.T){h.start, h.start, h.enter, h.enter, h.end, h.end, h.back, h.lose, h.resume}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			rapid.SampledFrom(moves).Draw(t, "move")(t)
		}
		j, rows := fold(h.entries)
		v := j.View(h.at)
		h.checkTasks(t, v)
		if len(rows) != h.ended {
			t.Fatalf("%d rows of attempts, %d ended", len(rows), h.ended)
		}
		for _, p := range j.View(h.at.Add(time.Hour)).Phases {
			if p.EtaS != nil && *p.EtaS == 0 && p.Running == 0 && p.Waiting > 0 {
				t.Fatalf("phase %s of %d tasks is expected to be over at once, and none runs", p.Phase, p.Waiting)
			}
		}
		again, _ := fold(h.entries)
		if w := again.View(h.at); !reflect.DeepEqual(v, w) {
			t.Fatalf("two folds of the same records differ:\n%+v\n%+v", v, w)
		}
	})
}

func (h *history) checkTasks(t *rapid.T, v report.JobView) {
	running := map[int]bool{}
	for _, a := range h.begun() {
		if !h.done[a.Task] && !h.failed(a.Task) {
			running[a.Task] = true
		}
	}
	failed, retries := 0, 0
	for task := range h.work.Total() {
		if h.failed(task) {
			failed++
		}
		retries += max(h.started[task]-1, 0) - h.wanted[task]
	}
	want := [...]int{h.work.Total(), len(h.done), failed, len(running), h.work.Total() - len(h.done) - failed - len(running), retries}
	got := [...]int{v.TasksTotal, v.TasksDone, v.TasksFailed, v.TasksRunning, v.TasksWaiting, v.Retries}
	if want != got {
		t.Fatalf("total, done, failed, running, waiting, retries: want %v, got %v", want, got)
	}
	if v.WastedS < 0 {
		t.Fatalf("%g s came to nothing", v.WastedS)
	}
	if n := v.Attempts; n.Started != n.Done+n.Failed+n.Lost+n.Killed+n.Broken+n.Requeued+len(h.live) {
		t.Fatalf("attempts do not add up with %d running: %+v", len(h.live), n)
	}
	if got := v.Counters["app"]["tasks"]; got != int64(len(h.done)) {
		t.Fatalf("counter says %d tasks, %d are done", got, len(h.done))
	}
	for _, p := range v.Phases {
		if p.Waiting+p.Running+p.Done+p.Failed != p.Total || min(p.Waiting, p.Running, p.Done) < 0 {
			t.Fatalf("phase does not add up: %+v", p)
		}
		if p.Progress < 0 || p.Progress > 1 {
			t.Fatalf("phase %s has progress %g", p.Phase, p.Progress)
		}
	}
	onNodes := 0
	for _, n := range v.Nodes {
		onNodes += n.Running
	}
	if n := len(h.begun()); onNodes != n {
		t.Fatalf("%d attempts run on nodes, %d run", onNodes, n)
	}
	maps := min(len(v.Phases), 1) * 10 * h.doneOf(v)
	if v.BytesIn != int64(maps) {
		t.Fatalf("%d bytes in, want %d", v.BytesIn, maps)
	}
}

// doneOf counts the done tasks that read the job's input.
func (h *history) doneOf(v report.JobView) int {
	n := 0
	for task := range h.done {
		if task < h.work.Tasks {
			n++
		}
	}
	return n
}

// TestFoldSurvivesAnything: records in no sensible order change nothing they should
// not and never panic, as a journal may be of another version.
func TestFoldSurvivesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range 30 {
			rapid.SampledFrom([]func(*rapid.T){h.start, h.enter, h.end, h.back, h.lose, h.resume}).Draw(t, "move")(t)
		}
		shuffled := rapid.Permutation(h.entries).Draw(t, "order")
		j, _ := fold(shuffled)
		for _, p := range j.View(h.at).Phases {
			if p.Waiting+p.Running+p.Done+p.Failed != p.Total {
				t.Fatalf("phase does not add up: %+v", p)
			}
		}
	})
}
