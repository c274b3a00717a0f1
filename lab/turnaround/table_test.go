package main

import (
	"math"
	"os"
	"strings"
	"testing"
)

// measured returns outcomes of the strategies in the order of the table; 0 means not completed.
func measured(situation string, turnarounds ...float64) []outcome {
	var all []outcome
	for i, t := range turnarounds {
		o := outcome{Situation: situation, Strategy: strategies[i].name, Turnaround: t, Wait: 10, Used: 100,
			Allocs: []allocation{{Nodes: 2, Limit: "3:00"}}}
		if t == 0 {
			o.Error = "no"
		}
		all = append(all, o)
	}
	return all
}

func TestCompare(t *testing.T) {
	s := &situation{name: "x", job: midBag}
	for _, tt := range []struct {
		took  []float64
		ratio float64
		ok    bool
	}{
		{[]float64{100, 200, 300, 400, 150, 160, 160}, 1, true},
		{[]float64{110, 200, 100, 400, 150, 160, 160}, 1.1, true},
		{[]float64{111, 200, 300, 400, 150, 100, 160}, 1.11, false},
		{[]float64{100, 0, 0, 0, 0, 0, 0}, 1, true},
		{[]float64{0, 200, 100, 400, 150, 160, 160}, math.Inf(1), false},
		{[]float64{0, 0, 0, 0, 0, 0, 0}, math.Inf(1), false},
	} {
		v, complete := compare(s, append(measured("y", 1, 1, 1, 1, 1, 1, 1), measured("x", tt.took...)...))
		if !complete || math.Abs(v.ratio-tt.ratio) > 1e-9 || v.ok() != tt.ok {
			t.Errorf("%v: ratio %v, ok %v, complete %v", tt.took, v.ratio, v.ok(), complete)
		}
	}
	if _, complete := compare(s, measured("x", 1, 2, 3, 4)); complete {
		t.Error("a row without strategy d is complete")
	}
}

func TestTables(t *testing.T) {
	all := append(measured("empty", 105, 100, 900, 100, 0, 120, 120), measured("half", 90, 200, 300, 200, 250, 260, 270)...)
	text := tables(compareAll(all))
	for _, want := range []string{
		"| empty | 105 | **100** | 900 | **100** | – | 120 | 120 | 1.050 | yes | 2n × 3:00 |",
		"| half | **90** | 200 | 300 | 200 | 250 | 260 | 270 | 1.000 | yes | 2n × 3:00 |",
		"berth is the best or within 10 % of the best in 2 of 2 situations; it takes 0.69 of the best habit's time in the geometric mean, 1.05 at worst, median of the differences −25 % ",
		"|  | berth's choice | 1.02 | 1.05 | 10 | 100 |",
		"| half | half of the cluster is busy for a long time | bag: 100 × 5–10 s | 4× 1n 200s/10m; –; – |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestResults(t *testing.T) {
	dir := t.TempDir()
	r, err := openResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range [][]outcome{measured("half", 90, 0), measured("empty", 70), measured("half", 95)} {
		if err := r.put(o...); err != nil {
			t.Fatal(err)
		}
	}
	again, err := openResults(dir)
	if err != nil || len(again.all) != 3 {
		t.Fatalf("%+v, %v", again, err)
	}
	if again.all[0].Situation != "empty" || again.all[1].Turnaround != 95 || again.all[2].Strategy != "a" {
		t.Errorf("read again: %+v", again.all)
	}
	if !again.done("half", ours, 0) || again.done("half", ours, 1) || again.done("half", "a", 0) || again.done("full", ours, 0) {
		t.Error("what is done is told wrong")
	}
	if text, err := os.ReadFile(r.path("csv")); err != nil || strings.Count(string(text), "\n") != 4 {
		t.Errorf("csv %q, %v", text, err)
	}
}

// TestRepeated: a strategy that was run several times counts with its mean, and a start counts where it was predicted.
func TestRepeated(t *testing.T) {
	all := measured("empty", 100, 200, 300, 400, 150, 160, 160)
	all[0].Predicted = &band{Low: 8, High: 20}
	again := all[0]
	again.Nth, again.Turnaround, again.Wait = 1, 130, 40
	rows := compareAll(append(all, again))
	if len(rows) != 1 || rows[0].by[ours].Turnaround != 115 {
		t.Fatalf("%+v", rows)
	}
	if text := inBands(rows); text != "; 1 of 2 starts were in the band that it predicted by history, 1 of 2 where it predicted a wait" {
		t.Error(text)
	}
}
