package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestEpisodes: the same seed gives the same slow nodes, and each node's are one after the other.
func TestEpisodes(t *testing.T) {
	all := episodes("1/blur/0", 8, 150, 60, 3600)
	if !reflect.DeepEqual(all, episodes("1/blur/0", 8, 150, 60, 3600)) || reflect.DeepEqual(all, episodes("1/blur/1", 8, 150, 60, 3600)) {
		t.Error("the seed does not decide")
	}
	slow := 0.0
	for i, e := range all {
		if e.From >= e.To || e.Factor < 2 || e.Factor > 4 || i > 0 && all[i-1].Node == e.Node && e.From < all[i-1].To {
			t.Errorf("episode %d is %+v after %+v", i, e, all[max(0, i-1)])
		}
		slow += e.To - e.From
	}
	if part := slow / (8 * 3600); math.Abs(part-60.0/210) > 0.08 {
		t.Errorf("nodes are slow for %.2f of the time, want about %.2f", part, 60.0/210)
	}
}

// TestAtHalf takes of each attempt that was done what was told nearest to half of its run.
func TestAtHalf(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	rows := []row{
		{Task: 1, Attempt: 1, Outcome: "killed", Started: at(0), Ended: at(90)},
		{Task: 1, Attempt: 2, Outcome: "done", Started: at(50), Ended: at(150)},
		{Task: 2, Attempt: 1, Outcome: "done", Started: at(0), Ended: at(40)},
	}
	all := []guess{{1, 1, 45, "hits", at(60)}, {1, 2, 20, "hits", at(100)}, {1, 2, 49, "hits", at(140)}, {1, 2, 80, "hits", at(150)}, {2, 1, 5, "cpu", at(9)}}
	got := atHalf(all, rows)
	if len(got) != 1 || got[0].Took != 100 || math.Abs(got[0].Off+0.1) > 1e-9 || got[0].Source != "hits" {
		t.Errorf("predictions are %+v", got)
	}
}

// TestTables: a rule is held against nothing in the same turn, and what was not run is said.
func TestTables(t *testing.T) {
	res := &results{Runs: []run{
		{Job: "blur", Rule: "nothing", Repeat: 0, Completion: 100, CPU: 50, Tasks: 4, Attempts: 4},
		{Job: "blur", Rule: "nothing", Repeat: 1, Completion: 200, CPU: 50, Tasks: 4, Attempts: 4},
		{Job: "blur", Rule: "paper", Repeat: 1, Completion: 150, CPU: 60, Tasks: 4, Attempts: 6, Killed: 2, Predictions: []prediction{{100, -0.05, "hits"}}},
		{Job: "assembly", Rule: "paper", Repeat: 0, Error: "no room\nleft"},
	}}
	text := tables(res)
	for _, want := range []string{"| `paper` | 1 | 150.0 (150.0 to 150.0) | −25 % | 60.0 | +20 % | 2.0 | 2.0 |", "| 11 | Gaussian blur, speculation: completion | −25 % | −25 % | not run |",
		"| blur | hits | 1 | 5.0 % | 5.0 % | 100 % |", "assembly under paper, turn 1, came to nothing: no room\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, text)
		}
	}
}
