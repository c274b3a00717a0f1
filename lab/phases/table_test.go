package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shuffled is a job whose 2 reduces read 30 bytes each from other nodes, in 2 s of a core's time.
var shuffled = step{Phases: []phase{{Phase: "shuffle", Total: 2, Net: 15, CPU: 1, CPUs: 4}}}

// sampled is a run of jobs that end after the given seconds, all submitted after 1 s.
func sampled(scheduler, part string, repeat int, ends ...float64) run {
	r := run{Scheduler: scheduler, Part: part, Repeat: repeat, Samples: []sample{{At: 1, Node: []use{{CPU: 0.3}, {CPU: 0.1}, {CPU: 0.2}}}}}
	for i, e := range ends {
		r.Jobs = append(r.Jobs, jobRun{Job: jobs[i].name, Submitted: 1, Ended: e, Shuffled: 100, Steps: []step{shuffled}})
	}
	r.sum()
	return r
}

func TestTables(t *testing.T) {
	res := &results{Machine: 3, Node: capacity{Cores: 1, Mem: 1000, Net: 80, Disk: 10}, Runs: []run{
		sampled("slots", alone, 0, 11), sampled("phases", alone, 0, 9), sampled("phases", alone, 1, 11),
		sampled("slots", batch, 0, 11, 21), sampled("phases", batch, 0, 6, 21), {Scheduler: "cores", Part: batch, Error: "no node"},
	}}
	got := tables(res)
	for _, want := range []string{
		"| sort | 10.0 | **9.0 ± 12.7** | 1.00 |",
		"| mean completion, s | 15.0 | 12.5 |",
		"| makespan, s | 20.0 | 20.0 |",
		"| slots | −17 %, not distinguishable from nothing: only 1 of 6 pairs | +0.0 %, not distinguishable from nothing: only 1 of 6 pairs |",
		"| CPU used, % | 20 | 20 |",
		"| map output read on its own node, % | 40 | 40 |",
		"Failed: batch under cores, repetition 1: no node",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables have no %q:\n%s", want, got)
		}
	}
}

// TestParse checks that a chain of jobs lasts from the submission of its first job to the end of its
// last.
// TestLeft: what is started again runs only what has not succeeded.
func TestLeft(t *testing.T) {
	res := &results{Runs: []run{sampled("slots", alone, 1, 11), {Scheduler: "slots", Part: batch, Repeat: 1, Error: "no node"}}}
	p := program{jobs: jobNames()[:2], parts: parts}
	if left, together := p.left(res, "slots", 1); !slices.Equal(left, jobNames()[1:2]) || !together {
		t.Errorf("left are %q and the batch: %v", left, together)
	}
	res.Runs = append(res.Runs, sampled("slots", batch, 0, 11, 21))
	if left, together := p.left(res, "slots", 0); len(left) != 2 || together {
		t.Errorf("left are %q and the batch: %v", left, together)
	}
}

func TestParse(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var j jobRun
	err := j.parse([]byte(`{"id":"mr-1","state":"done","submitted":"2026-01-01T00:00:01Z","ended":"2026-01-01T00:00:03Z","attempts":{"started":4},
		"phases":[{"phase":"shuffle","total":2,"net_bps":10,"seconds":{"mean":3}}],"counters":{"org.apache.hadoop.mapreduce.TaskCounter":{"REDUCE_SHUFFLE_BYTES":100}}}
		{"id":"mr-2","state":"done","submitted":"2026-01-01T00:00:04Z","ended":"2026-01-01T00:00:09Z","attempts":{"started":3}}`), begun)
	if err != nil || j.completion() != 8 || j.Attempts != 7 || j.Shuffled != 100 || j.moved() != 60 {
		t.Errorf("%+v, %v", j, err)
	}
	if err := j.parse([]byte(`{"id":"mr-3","state":"failed","reason":"no input"}`), begun); err == nil {
		t.Error("a failed job was accepted as done")
	}
}

// TestTwice checks that a batch has each job twice, in the same order for the same repetition.
func TestTwice(t *testing.T) {
	all := twice(jobNames(), 1)
	if !slices.Equal(all, twice(jobNames(), 1)) || slices.Equal(all, twice(jobNames(), 2)) {
		t.Error("the order is not one for each repetition")
	}
	for _, name := range jobNames() {
		if n := len(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s != name })); n != 2 {
			t.Errorf("%s is in the batch %d times", name, n)
		}
	}
}

// TestFigures checks that figures are drawn for the existing results, and none without results.
func TestFigures(t *testing.T) {
	dir := t.TempDir()
	if err := figures(&results{}, dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("without results there is %v", left)
	}
	res := &results{Machine: 2, Node: capacity{Cores: 1, Mem: 1, Net: 1, Disk: 1}, Runs: []run{
		sampled("slots", alone, 0, 11), sampled("phases", alone, 0, 9), sampled("slots", batch, 0, 11, 21), sampled("phases", batch, 0, 6, 21)}}
	if err := figures(res, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{useFigure, batchFigure} {
		if svg, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(svg), "</svg>") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
