package rundir

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/driver/local"
	"berth/internal/server/history"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

func newHome(t *testing.T) statedir.Home {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := statedir.Open()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// prepared returns the run of a bag of three entries.
func prepared(t *testing.T, h statedir.Home) (statedir.Run, *Decided) {
	t.Helper()
	return preparedOf(t, h, []job.Entry{{"a"}, {"b"}, {"c"}})
}

// preparedOf returns the run of a bag of those entries.
func preparedOf(t *testing.T, h statedir.Home, entries []job.Entry) (statedir.Run, *Decided) {
	t.Helper()
	spec := job.New(job.Bag, t.TempDir())
	spec.Bag.Command, spec.Request.On = []string{"true"}, "local"
	spec.Normalize()
	d, err := Decide(t.Context(), h, spec, entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(h, d)
	if err != nil {
		t.Fatal(err)
	}
	return r, d
}

// write appends records to journals, a second apart.
func write(t *testing.T, set *journal.Set, records ...event.Record) {
	t.Helper()
	for i, r := range records {
		if _, err := set.Append(job.Time(i+1)*1e9, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.SyncDirty(); err != nil {
		t.Fatal(err)
	}
}

func viewOf(t *testing.T, r statedir.Run) report.JobView {
	t.Helper()
	v, err := View(r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPrepareAllOrNothing: if one of the files of a run cannot be written, which are written at the same time, nothing of the run is left.
func TestPrepareAllOrNothing(t *testing.T) {
	h := newHome(t)
	_, d := prepared(t, h)
	bad := &plan.Prediction{Median: math.NaN()} // no JSON can be made of it
	for _, c := range []struct {
		what   string
		damage func(d *Decided)
	}{
		{"spec", func(d *Decided) { d.Spec.Request.Courtesy = math.NaN() }},
		{"plan", func(d *Decided) { d.Plan.Predicted = bad }},
		{"both", func(d *Decided) { d.Spec.Request.Courtesy, d.Plan.Predicted = math.NaN(), bad }},
	} {
		spec := *d.Spec
		mine := &Decided{Spec: &spec, Tasks: d.Tasks, Plan: d.Plan}
		c.damage(mine)
		if r, err := Prepare(h, mine); err == nil || r.Dir != "" {
			t.Errorf("%s: run %q, error %v", c.what, r.Dir, err)
		}
		if left, err := h.List(); err != nil || len(left) != 1 {
			t.Errorf("%s: left %v, %v", c.what, left, err)
		}
	}
}

// TestView: the folder of a run alone gives its state, at every stage of its life.
func TestView(t *testing.T) {
	h := newHome(t)
	r, d := prepared(t, h)
	if v := viewOf(t, r); v.State != report.StateInterrupted || v.TasksTotal != 3 || v.TasksDone != 0 || v.Decision == "" {
		t.Errorf("before a coordinator had it: %+v", v)
	}
	set := journal.NewSet(h.JournalOf)
	defer func() { _ = set.Close() }()
	at := func(task int) job.Attempt { return job.Attempt{Job: r.ID, Task: task, N: 1} }
	write(t, set, event.JobSubmitted{Work: plan.Work(d.Spec, d.Plan)},
		event.AttemptStarted{Attempt: at(0), Node: "a1/0"}, event.AttemptStarted{Attempt: at(1), Node: "a1/0"},
		event.AttemptEnded{Attempt: at(0), Outcome: event.Done},
		event.AttemptEnded{Attempt: at(1), Outcome: event.Failed, Exit: 3, Stderr: "last words"})
	v := viewOf(t, r)
	if v.State != report.StateInterrupted || v.TasksDone != 1 || v.TasksFailed != 1 || v.TasksWaiting != 1 || v.ID != r.ID {
		t.Errorf("its coordinator died: %+v", v)
	}
	if len(v.Failures) != 1 || v.Failures[0].Name != "2" || v.Failures[0].File != d.Spec.Bag.OutputPath(d.Spec.Bag.Stderr, r.ID, nil, 1, 0) {
		t.Errorf("failures: %+v", v.Failures)
	}
	write(t, set, event.JobEnded{Job: r.ID, State: event.StateCancelled, Reason: "enough"})
	if v := viewOf(t, r); v.State != event.StateCancelled || v.Reason != "enough" {
		t.Errorf("it is over: %+v", v)
	}
	rows := 0
	for row, err := range Rows(r) {
		if rows++; err != nil || row.Task != rows-1 {
			t.Errorf("attempt %d is %+v, %v", rows, row, err)
		}
	}
	for range Rows(r) { // whoever has seen enough stops
		rows++
		break
	}
	if rows != 3 {
		t.Errorf("%d attempts came", rows)
	}

	// The summary that is written at the end stands for the journal, unless it cannot be read.
	v.State, v.Name = event.StateDone, "from the summary"
	if err := statedir.WriteJSON(r.Summary(), v); err != nil {
		t.Fatal(err)
	}
	if got := viewOf(t, r); got.Name != "from the summary" {
		t.Errorf("with a summary: %+v", got)
	}
	if err := os.WriteFile(r.Summary(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := viewOf(t, r); got.State != event.StateCancelled {
		t.Errorf("with half a summary: %+v", got)
	}
}

// TestTasks: the tasks of a run come one at a time, each with its attempts; those that are named alone; and where the journal is damaged an error comes,
// for names before anything else.
func TestTasks(t *testing.T) {
	h := newHome(t)
	r, d := prepared(t, h)
	set := journal.NewSet(h.JournalOf)
	defer func() { _ = set.Close() }()
	at := func(task, n int) job.Attempt { return job.Attempt{Job: r.ID, Task: task, N: n} }
	write(t, set, event.JobSubmitted{Work: plan.Work(d.Spec, d.Plan)},
		event.AttemptStarted{Attempt: at(1, 1), Node: "a1/0"}, event.AttemptEnded{Attempt: at(1, 1), Outcome: event.Lost},
		event.AttemptStarted{Attempt: at(1, 2), Node: "a1/1"}, event.AttemptStarted{Attempt: at(0, 1), Node: "a1/0"},
		event.AttemptEnded{Attempt: at(0, 1), Outcome: event.Done})
	words := func(names ...string) (all []string, err error) {
		tasks, err := Tasks(r, names)
		if err != nil {
			return nil, err
		}
		for s, err := range tasks {
			if err != nil {
				return all, err
			}
			word := s.Name + " " + s.State
			for _, try := range s.Tries {
				word += fmt.Sprintf(" %d %s %s", try.Attempt, try.Node, try.Outcome)
			}
			all = append(all, word)
		}
		return all, nil
	}
	want := []string{"1 done 1 a1/0 done", "2 running 1 a1/0 lost 2 a1/1 ", "3 waiting"}
	if got, err := words(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if got, err := words("3", "1"); err != nil || !reflect.DeepEqual(got, []string{want[2], want[0]}) {
		t.Errorf("those that are named: %q, %v", got, err)
	}
	b, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(r.Journal(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	tasks, err := Tasks(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range tasks {
		if err == nil {
			t.Errorf("task %s comes of a damaged journal", s.Name)
		}
	}
	if _, err := Tasks(r, []string{"1"}); err == nil {
		t.Error("a task is named of a damaged journal")
	}
}

// TestRowsOfRemovedRun: a run that is removed while somebody reads it slowly is not taken for one that has nothing more.
func TestRowsOfRemovedRun(t *testing.T) {
	h := newHome(t)
	const tasks = 20_000 // more than are read at once
	r, d := preparedOf(t, h, make([]job.Entry, tasks))
	records := []event.Record{event.JobSubmitted{Work: plan.Work(d.Spec, d.Plan)}}
	for task := range tasks {
		a := job.Attempt{Job: r.ID, Task: task, N: 1}
		records = append(records, event.AttemptStarted{Attempt: a, Node: "a1/0"}, event.AttemptEnded{Attempt: a, Outcome: event.Done})
	}
	set := journal.NewSet(h.JournalOf)
	write(t, set, records...)
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	rows, failed := 0, error(nil)
	for _, err := range Rows(r) {
		if failed = err; err != nil {
			break
		}
		if rows++; rows == 1 {
			if err := h.Hide(r.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rows != tasks && failed == nil {
		t.Errorf("%d of %d rows, and no error", rows, tasks)
	}
}

// TestDamaged: the view of a run that cannot be read has everything that can still be read.
func TestDamaged(t *testing.T) {
	h := newHome(t)
	r, d := prepared(t, h)
	if err := os.WriteFile(r.Journal(), []byte("no journal at all, but long enough to be one"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := View(r)
	if err == nil || !strings.Contains(err.Error(), r.Journal()) {
		t.Fatalf("error %v", err)
	}
	v := Damaged(r, err)
	if v.State != report.StateDamaged || v.Name != d.Spec.Name || v.TasksTotal != 3 || v.Reason != err.Error() || v.Submitted.IsZero() {
		t.Errorf("%+v", v)
	}
}

// TestReplan: a resumed run keeps to the changed request, and its plan shows that.
func TestReplan(t *testing.T) {
	h := newHome(t)
	r, d := prepared(t, h)
	undo, err := Replan(t.Context(), r, false, func(s *job.Spec) error {
		s.Request.Workers, s.Request.SortMemory = 2, 64<<20
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := LoadPlan(r); err != nil || p.Alloc.Nodes != 2 || p.Alloc.SortMemory != 64<<20 || p.Tasks != d.Plan.Tasks {
		t.Errorf("plan %+v, %v", p.Alloc, err)
	}
	if spec, err := r.Spec(); err != nil || spec.Request.Workers != 2 {
		t.Errorf("the next resume does not know of the change: %+v, %v", spec, err)
	}
	no := errors.New("no")
	if _, err := Replan(t.Context(), r, false, func(s *job.Spec) error { s.Request.Workers = 7; return no }); !errors.Is(err, no) {
		t.Errorf("a change that is refused: %v", err)
	}
	if spec, err := r.Spec(); err != nil || spec.Request.Workers != 2 {
		t.Errorf("a change that is refused is kept: %+v, %v", spec, err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if before, err := Open(r); err != nil || before.Spec.Request.Workers != d.Spec.Request.Workers || !reflect.DeepEqual(before.Plan.Alloc, d.Plan.Alloc) {
		t.Errorf("nobody took it up, and it is not as before: %+v, %v", before, err)
	}
	if _, err := Replan(t.Context(), h.Run("bag-99"), false, func(*job.Spec) error { return nil }); job.CodeOf(err) != job.CodeArguments {
		t.Errorf("a run that is not there: %v", err)
	}
}

// TestPrepareLeavesNothing: a job that cannot be prepared leaves neither run nor output.
func TestPrepareLeavesNothing(t *testing.T) {
	h := newHome(t)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := job.New(job.MapReduce, dir)
	spec.Request.On = "local"
	m := spec.MapReduce
	m.Inputs, m.Output, m.Mapper = []string{in}, out, job.Program{Native: "identity"}
	m.Reduces = 0
	spec.Normalize()
	d, err := Decide(t.Context(), h, spec, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a plan made the output folder")
	}
	if err := os.Mkdir(out, 0o700); err != nil { // somebody was quicker
		t.Fatal(err)
	}
	if _, err := Prepare(h, d); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("error %v", err)
	}
	if runs, err := h.List(); err != nil || len(runs) != 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(h, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := Discard(r, d.Spec); err != nil {
		t.Fatal(err)
	}
	if runs, err := h.List(); err != nil || len(runs) != 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a job that was not taken on left its output folder")
	}
	again, err := Prepare(h, d)
	if err != nil || again.ID == r.ID {
		t.Fatalf("the id of a job that was discarded is given again: %s, %v", again.ID, err)
	}
	write(t, journal.NewSet(h.JournalOf), event.JobEnded{Job: again.ID})
	if err := Discard(again, d.Spec); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(again.Dir); err != nil {
		t.Errorf("a job that a coordinator has is removed: %v", err)
	}
}

// TestBatchOptions: a note says which options have no effect without a batch system.
func TestBatchOptions(t *testing.T) {
	h := newHome(t)
	t.Setenv(OnVar, local.Name)
	spec := job.New(job.Bag, t.TempDir())
	spec.Bag.Command, spec.Request.Partition, spec.Request.Exclusive = []string{"true"}, "debug", true
	spec.Normalize()
	d, err := Decide(t.Context(), h, spec, []job.Entry{{"a"}}, nil)
	if err != nil || !strings.Contains(strings.Join(d.Plan.Notes, "\n"), "--partition, --exclusive") {
		t.Errorf("notes %q, %v", d.Plan.Notes, err)
	}
}

// TestReplanAgain: a plan of the rest depends on the job and on what is left, not on the
// plan before it: the second resume of a bag counts all of its tasks, as the first did.
func TestReplanAgain(t *testing.T) {
	h := newHome(t)
	entries := make([]job.Entry, 20)
	for i := range entries {
		entries[i] = job.Entry{fmt.Sprint(i)}
	}
	r, d := preparedOf(t, h, entries)
	set := journal.NewSet(h.JournalOf)
	defer func() { _ = set.Close() }()
	write(t, set, event.JobSubmitted{Work: plan.Work(d.Spec, d.Plan)})
	task := 0
	for _, stage := range []struct{ done, failed int }{{12, 0}, {16, 0}, {18, 1}} {
		var records []event.Record
		for ; task < stage.done+stage.failed; task++ {
			at, how := job.Attempt{Job: r.ID, Task: task, N: 1}, event.Done
			if task >= stage.done {
				how = event.Failed
			}
			records = append(records, event.AttemptStarted{Attempt: at, Node: "a1/0"}, event.AttemptEnded{Attempt: at, Outcome: how})
		}
		write(t, set, append(records, event.JobEnded{Job: r.ID, State: event.StateCancelled})...)
		for _, again := range []bool{false, true} {
			_, err := Replan(t.Context(), r, again, func(*job.Spec) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			p, err := LoadPlan(r)
			if err != nil {
				t.Fatal(err)
			}
			left := 20 - stage.done
			if !again {
				left -= stage.failed
			}
			if p.Tasks != 20 || p.Left == nil || p.Left.Tasks != left || !strings.Contains(p.Reasons[0], fmt.Sprintf(": %d task", left)) {
				t.Errorf("%d done, %d failed: a plan of %d tasks, of which %+v are left: %s", stage.done, stage.failed, p.Tasks, p.Left, p.Reasons[0])
			}
		}
		write(t, set, event.JobResumed{Job: r.ID, Alloc: d.Plan.Alloc})
	}
}

func saveRun(t *testing.T, s *history.Store, r history.Measured) {
	t.Helper()
	commit, err := s.Save(t.Context(), r)
	if err == nil {
		err = commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestProfile: an application is found again by the content of its script where it is shipped from another folder, as mrjob does, and by the
// script's place after it was edited.
func TestProfile(t *testing.T) {
	ctx := t.Context()
	s, err := history.Open(ctx, newHome(t).Database())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	job := func(path, sum string) *job.Spec {
		return &job.Spec{Kind: job.MapReduce, MapReduce: &job.MapReduceSpec{Mapper: job.Program{Args: []string{"python3", "j.py"}},
			Files: []job.ShipFile{{Path: path, Name: "j.py", Sum: sum}}}}
	}
	spec := job("/tmp/1/j.py", "ab")
	ran := history.Run{ID: "mapreduce-1", App: predict.Application(spec), AppByPath: predict.ApplicationByPath(spec), NodeType: "cpu/2", Ended: 2, Tasks: 1}
	saveRun(t, s, history.Measured{Run: ran, Measures: predict.Measures{predict.MapTask: &predict.Measure{}}})
	for name, tt := range map[string]struct {
		path, sum string
		found     bool
	}{
		"again":               {"/tmp/1/j.py", "ab", true},
		"from another folder": {"/tmp/2/j.py", "ab", true},
		"edited":              {"/tmp/1/j.py", "cd", true},
		"another one":         {"/tmp/2/j.py", "cd", false},
	} {
		if p, err := Profile(ctx, s, job(tt.path, tt.sum), "cpu/2"); err != nil || (p != nil) != tt.found {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
