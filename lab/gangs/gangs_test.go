package main

import (
	"strings"
	"testing"
	"time"
)

// TestDraw: the tasks of a seed are the same for all sides, and are as many gangs and small tasks as wanted.
func TestDraw(t *testing.T) {
	o := options{gangs: 60, small: 2000, mean: 2 * time.Second}
	all, gangs := o.draw(1), 0
	for i, again := range o.draw(1) {
		if all[i].seconds != again.seconds || all[i].Ranks != again.Ranks {
			t.Fatalf("task %d: %+v, then %+v", i, all[i], again)
		}
		if all[i].Ranks > 0 {
			gangs++
		}
		if r := all[i].Ranks; r != 0 && (r < 2 || r > 6) {
			t.Errorf("a gang of %d nodes", r)
		}
	}
	if gangs != 60 || len(all) != 2060 {
		t.Errorf("%d gangs of %d tasks", gangs, len(all))
	}
}

// TestMakespan: what tasks have written gives the makespan if each of them ran once, on its nodes, beside no more others than fit.
func TestMakespan(t *testing.T) {
	all := []task{{CPUs: 8, Ranks: 6, seconds: 2}, {CPUs: 8, Ranks: 3, seconds: 1}, {CPUs: 1, seconds: 4}}
	if w := work(all); w != 6*8*2+3*8+4 {
		t.Errorf("%g core-seconds", w)
	}
	for _, c := range []struct {
		text, err string
		want      float64
	}{
		{text: "0 10 12 6\n2 10.5 14.5 1\n1 12 13 3\n", want: 4.5},
		{text: "0 10 12 6\n2 10.5 14.5 1\n1 11 13 3\n", err: "tasks hold 73 cores at once"},
		{text: "0 10 12 6\n2 10.5 14.5 1\n1 12 13 2\n", err: "task 1 ran on 2 nodes instead of 3"},
		{text: "0 10 12 6\n2 10.5 14.5 1\n", err: "task 1 has not ended"},
		{text: "0 10 12 6\n0 12 14 6\n", err: `"0 12 14 6", is not the first of a task`},
		{text: "0 10\n", err: `"0 10", is not`},
		{text: "3 10 11 1\n", err: `"3 10 11 1", is not`},
	} {
		got, err := makespan(strings.NewReader(c.text), all)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %g, %v", c.text, got, err)
		}
	}
}
