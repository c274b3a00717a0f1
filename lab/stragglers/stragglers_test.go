package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestEpisodes checks that the same seed gives the same slow nodes, for different tasks.
func TestEpisodes(t *testing.T) {
	all := episodes("1/blur/0", 5, 8, 40)
	if !reflect.DeepEqual(all, episodes("1/blur/0", 5, 8, 40)) || reflect.DeepEqual(all, episodes("1/blur/1", 5, 8, 40)) {
		t.Error("the seed does not decide")
	}
	tasks := make(map[int]bool)
	for _, e := range all {
		if e.Task >= 8 || tasks[e.Task] || e.After < 0 || e.After > 20 || e.Factor < 2 || e.Factor > 4 {
			t.Errorf("there is an episode %+v", e)
		}
		tasks[e.Task] = true
	}
	if len(all) != 5 || len(episodes("1/blur/0", 9, 8, 40)) != 8 {
		t.Errorf("%d episodes", len(all))
	}
}

// TestAtHalf checks that for each successful attempt the prediction closest to half of its run is
// used.
func TestAtHalf(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	rows := []row{
		{Task: 1, Attempt: 1, Outcome: "killed", Started: at(0), Ended: at(90)},
		{Task: 1, Attempt: 2, Outcome: "done", Started: at(50), Ended: at(150)},
		{Task: 2, Attempt: 1, Outcome: "done", Started: at(0), Ended: at(40)},
	}
	all := []guess{{1, 1, 45, "hits", at(60), "a1/0"}, {1, 2, 20, "hits", at(100), "a1/1"}, {1, 2, 49, "hits", at(140), "a1/1"}, {1, 2, 80, "hits", at(150), "a1/1"},
		{2, 1, 5, "cpu", at(9), "a1/2"}}
	for _, tt := range []struct {
		node    string
		at      float64
		changed bool
	}{{"a1/1", 110, true}, {"a1/1", 90, false}, {"a1/0", 110, false}} {
		got := atHalf(all, rows, []episode{{Node: tt.node, At: at(tt.at)}})
		if len(got) != 1 || got[0].Took != 100 || math.Abs(got[0].Off+0.1) > 1e-9 || got[0].Source != "hits" || got[0].Changed != tt.changed {
			t.Errorf("where %s becomes slow after %g s predictions are %+v", tt.node, tt.at, got)
		}
	}
}

// TestTables checks that a rule is compared with nothing in the same turn, and that failed runs are
// listed.
func TestTables(t *testing.T) {
	res := &results{Runs: []run{
		{Job: "blur", Rule: "nothing", Repeat: 0, Completion: 100, CPU: 50, Tasks: 4, Attempts: 4},
		{Job: "blur", Rule: "nothing", Repeat: 1, Completion: 200, CPU: 50, Tasks: 4, Attempts: 4},
		{Job: "blur", Rule: "paper", Repeat: 1, Completion: 150, CPU: 60, Tasks: 4, Attempts: 6, Killed: 2},
		{Job: "blur", Rule: "berth", Repeat: 1, Completion: 150, CPU: 60, Tasks: 4, Attempts: 4, Predictions: []prediction{{100, -0.05, "hits", false}, {100, 0.5, "hits", true}}},
		{Job: "assembly", Rule: "paper", Repeat: 0, Error: "no room\nleft"},
	}}
	text := tables(res)
	for _, want := range []string{"| `paper` | 1 | 150.0 (150.0 to 150.0) | 150.00 | −25 %, not distinguishable from nothing: only 1 of 6 pairs |  | 60.0 | +20 %, not distinguishable from nothing: only 1 of 6 pairs | 2.0 | 2.0 |", "| 11 | Gaussian blur, speculation: completion | −25 % | −25 %, not distinguishable from nothing: only 1 of 6 pairs | −25 %, not distinguishable from nothing: only 1 of 6 pairs |",
		"| blur | hits | 2 | 50.0 % | 1 | 5.0 % | 5.0 % | 100 % |", "assembly under paper, turn 1, failed: no room\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, text)
		}
	}
}

// TestWay checks that the way goes from the completion under nothing to that without the slow task, in units of the median
// task's time of the same run.
func TestWay(t *testing.T) {
	slow := []episode{{Task: 1}}
	res := &results{Runs: []run{
		{Job: "blur", Rule: "nothing", Completion: 100, Took: []float64{40, 40, 40, 90}, Episodes: slow},
		{Job: "blur", Rule: "berth", Completion: 60, Took: []float64{40, 40, 40, 50}, Episodes: slow},
	}}
	if got := res.way("blur", "berth"); got != "80 %" || res.way("blur", "nothing") != "" {
		t.Errorf("the way is %q", got)
	}
}
