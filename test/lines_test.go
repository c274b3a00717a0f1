package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/test/support/slurmtest"
)

// TestBagOfLines: a bag has the tasks of a file of lines, some of them after later lines, and ends when they have; its results are printed in their
// order. Wrong lines, and lines that no node can run, leave no job.
func TestBagOfLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tasks", `{"name":"b","command":"cat a.txt","after":["a"]}
{"name":"a","command":"echo a","stdout":"a.txt"}

{"entry":"x y","retries":1}
`)
	r := w.must("bag", "--tasks", "tasks", "--keep-order", "--", "echo", "entry", "{}")
	if r.stdout != "a\na\nentry x y\n" {
		t.Errorf("the tasks printed %q", r.stdout)
	}
	w.write("job.toml", `kind = "bag"

[[task]]
command = ["echo", "$HOME", "x y"]
after = ["two"]

[[task]]
name = "two"
command = "exit 3"
retries = 1
[task.env]
A = "b"
`)
	if r := w.berth("run", "job.toml"); r.code != 2 {
		t.Errorf("a task failed and one comes after it: %v", r)
	}
	w.write("wrong.toml", "kind = \"bag\"\n\n[[task]]\ncommand = \"a\"\n\n\n[[task]]\ncomand = \"b\"\n")
	w.write("circle", `{"name":"a","after":["b"]}`+"\n"+`{"name":"b","after":["a"]}`)
	w.write("large", `{"command":"touch there"}`+"\n\n"+`{"cpus":9999}`)
	before := w.jobs()
	for says, args := range map[string][]string{
		`wrong.toml:7: a task has no key "comand"`:       {"run", "wrong.toml"},
		"circle:1: after: the task would have to":        {"bag", "--tasks", "circle"},
		"large:3: the task needs 9,999 cores":            {"bag", "--tasks", "large"},
		"large:3: the task needs 9,999 cores, but":       {"plan", "bag", "--tasks", "large"},
		"--each-line: there are entries, and tasks from": {"bag", "--tasks", "tasks", "--each-line", "tasks"},
	} {
		if r := w.berth(args...); r.code != 255 || !strings.Contains(r.stderr, says) {
			t.Errorf("%q: %v", args, r)
		}
	}
	if after := w.jobs(); len(after) != len(before) || w.there("there") {
		t.Errorf("there are the jobs %v, and there were %v", after, before)
	}
}

// TestApplicationsByTask: what is measured of tasks that name an application is kept as that of the application, apart from that of the others of the
// bag, and later bags with the application, alone or by task, are predicted from it.
func TestApplicationsByTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--open", "--", "echo")
	lines := strings.Repeat(`{"command":"true","application":"short"}`+"\n", 3) + strings.Repeat(`{"command":"sleep 0.2","application":"long"}`+"\n", 5) +
		strings.Repeat(`{"entry":"own"}`+"\n", 4)
	w.write("tasks", lines)
	w.must("add", "last", "--tasks", "tasks")
	w.must("close", "last")
	w.must("wait", "last")
	s, err := history.Open(t.Context(), w.home().Database())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, want := range map[string]uint64{"short": 3, "long": 5} {
		spec := job.New(job.Bag, w.dir)
		spec.Application = name
		prof, err := s.Profile(t.Context(), predict.Application(spec), "")
		if err != nil || prof == nil || prof.Runs != 1 || uint64(prof.Measures.Get(predict.BagTask).Time.Count) != want {
			t.Fatalf("%s has the profile %+v, %v, want one of %d tasks", name, prof, err, want)
		}
	}
	type planned struct {
		Source    string `json:"source"`
		Predicted *struct {
			Median float64 `json:"median_s"`
		} `json:"predicted"`
	}
	plan := func(args ...string) (p planned) {
		if err := json.Unmarshal([]byte(w.must(append([]string{"plan", "bag", "--json"}, args...)...).stdout), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := plan("--application", "long", "--array", "1-20", "--", "other"); !strings.HasPrefix(p.Source, "profile of 1 run of long, 5 tasks") {
		t.Errorf("a bag with the application is predicted by %q", p.Source)
	}
	if p := plan("--", "echo", ":::", "a", "b"); !strings.HasPrefix(p.Source, "profile of 1 run of echo, 4 tasks") {
		t.Errorf("a bag of the other tasks is predicted by %q", p.Source)
	}
	w.write("next", strings.Repeat(`{"command":"x","application":"long"}`+"\n", 9)+strings.Repeat(`{"command":"y","application":"short"}`+"\n", 9))
	if p := plan("--tasks", "next"); p.Predicted == nil || p.Source != "measurements of tasks with the same needs" {
		t.Errorf("a bag whose tasks name applications is predicted by %+v", p)
	}
	w.must("forget", "last")
	if p := plan("--application", "short", "--array", "1-3", "--", "other"); !strings.HasPrefix(p.Source, "profile of 1 run of short") {
		t.Errorf("after the run was forgotten, a bag is predicted by %q", p.Source)
	}
}

// TestSlurmLargerTask: a line whose task no node of the partition can run is refused. A task that is larger than the nodes of the first allocation, and
// not larger than a node of the partition, is taken, and an allocation with enough cores is requested for it while the first one has work. So are
// nodes for further tasks of a bag that was planned for one.
func TestSlurmLargerTask(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(2), slurmtest.CPUs(4))
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	w.must("bag", "--open", "--no-scout", "--", "true")
	w.write("first", `{"command":"touch begun; until test -e go; do sleep 0.1; done"}`)
	w.must("add", "last", "--tasks", "first")
	w.await("the first task", func() bool { return w.there("begun") })
	w.write("huge", "{\"command\":\"touch never\"}\n\n{\"cpus\":5}\n")
	if r := w.berth("add", "last", "--tasks", "huge"); r.code != 3 || !strings.Contains(r.stderr, "huge:3: the task needs 5 cores, and the largest node has 4 cores") {
		t.Errorf("a task that no node can run: %v", r)
	}
	w.write("large", `{"command":"touch go","cpus":4}`)
	w.must("add", "last", "--tasks", "large")
	w.must("close", "last")
	w.must("wait", "last")
	var cores []int
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocRequested); ok {
			cores = append(cores, r.Request.PerNode.CPUs)
		}
	}
	if w.there("never") || len(cores) < 2 || cores[0] >= 4 || slices.Max(cores) != 4 {
		t.Errorf("allocations with %v cores a node were requested", cores)
	}
	w.grows(5)
}

// grows submits a bag whose first task comes alone, and is given a core, and lets others come after it. All wait for each
// other, so it ends only if nodes are requested for them without any measurement.
func (w *world) grows(cores int) {
	w.must("bag", "--open", "--", "sh", "-c", fmt.Sprintf("touch up.$0; until test $(ls up.* | wc -l) -ge %d; do sleep 0.1; done", cores), "{}")
	w.must("add", "last", ":::", "1")
	w.await("the first task", func() bool { return w.there("up.1") })
	for i := 2; i <= cores; i++ {
		w.must("add", "last", ":::", fmt.Sprint(i))
	}
	w.must("close", "last")
	w.must("wait", "last")
}

// there reports whether the user's folder has a file.
func (w *world) there(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}
