package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally has the totals over all runs.
type tally struct {
	sync.Mutex
	programs             map[string]bool // by path, with links resolved
	absent               map[string]bool // programs that are not installed
	cases, runs          int
	images               int    // programs planted, summed over the first runs of all commands
	alone                int    // commands of which no program was planted
	why                  string // the reason why nothing was planted
	planted              int    // functions, counted like images
	leftOut              map[string]int
	hits                 uint64
	unjudged             int // cases that differ between runs without planting
	differences, crashes int // runs
}

func newTally() *tally {
	return &tally{programs: map[string]bool{}, absent: map[string]bool{}, leftOut: map[string]int{}}
}

// count adds what was planted in a first run.
func (t *tally) count(c *testCase, o *outcome) {
	t.Lock()
	defer t.Unlock()
	for i, e := range o.commands {
		if e.stats == nil {
			continue
		}
		if e.stats.Programs == 0 {
			t.alone++
			t.why = e.stats.NotHere
			fmt.Printf("%s: %s: nothing planted: %s\n", c.name, c.commands[i].args[0], e.stats.NotHere)
			continue
		}
		t.images += e.stats.Programs
		t.planted += e.stats.Planted
		for reason, n := range e.stats.LeftOut {
			t.leftOut[reason] += n
		}
		for _, f := range e.stats.Functions {
			t.hits += f.Hits
		}
	}
}

// assess counts a run and reports its differences immediately.
func (t *tally) assess(c *testCase, found []difference) {
	t.Lock()
	defer t.Unlock()
	t.runs++
	if len(found) == 0 {
		return
	}
	for _, d := range found {
		fmt.Printf("%s: %s\n", c.name, d.what)
	}
	if slices.ContainsFunc(found, func(d difference) bool { return d.crash }) {
		t.crashes++
	} else {
		t.differences++
	}
}

// unsteady counts a case that cannot be assessed.
func (t *tally) unsteady(c *testCase, found []difference) {
	t.Lock()
	defer t.Unlock()
	t.unjudged++
	fmt.Printf("%s: not planted: %s\n", c.name, found[0].what)
}

// String returns the table for lab/results/planting.md.
func (t *tally) String() string {
	var b strings.Builder
	left := 0
	for _, n := range t.leftOut {
		left += n
	}
	row := func(what string, value any) { fmt.Fprintf(&b, "| %s | %v |\n", what, value) }
	b.WriteString("| | |\n|---|--:|\n")
	row("programs", len(t.programs))
	row("cases", t.cases)
	row("runs with all functions planted", t.runs)
	row("programs planted, summed over the commands of all cases", t.images)
	row("commands of which nothing was planted", t.alone)
	row("functions found, likewise", t.planted+left)
	row("planted", t.planted)
	for _, reason := range slices.SortedFunc(maps.Keys(t.leftOut), func(x, y string) int { return t.leftOut[y] - t.leftOut[x] }) {
		row("left out: "+reason, t.leftOut[reason])
	}
	row("entries counted", t.hits)
	row("runs that crashed or did not end", t.crashes)
	row("runs with other differences", t.differences)
	row("cases that differ without planting, not judged", t.unjudged)
	row("programs that are not installed", len(t.absent))
	return b.String()
}
