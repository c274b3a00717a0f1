package event

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// What a worker tells of an attempt's end can always be recorded.
func TestBounded(t *testing.T) {
	many := map[string]int64{}
	for i := range 800_000 {
		many[fmt.Sprintf("group,counter-%d", i)] = 1
	}
	long := strings.Repeat("ä", MaxSize)
	at := job.Attempt{Job: "mr-1", Task: 1, N: 1}
	for name, tt := range map[string]struct {
		r       AttemptEnded
		outcome Outcome
		reason  string
	}{
		"usual":                  {AttemptEnded{Outcome: Done, Counters: map[string]int64{"g,c": 1}}, Done, ""},
		"too many counters":      {AttemptEnded{Outcome: Done, Counters: many}, Broken, "the 800000 counters of the task have"},
		"and failed":             {AttemptEnded{Outcome: Failed, Reason: "exit status 1", Counters: many}, Failed, "exit status 1"},
		"long name of a counter": {AttemptEnded{Outcome: Done, Counters: map[string]int64{long: 1}}, Broken, "the 1 counters of the task have"},
		"long texts":             {AttemptEnded{Outcome: Failed, Reason: long, Stderr: long}, Failed, "ää"},
	} {
		tt.r.Attempt = at
		got := tt.r.Bounded()
		if _, err := (Entry{Seq: 1, Record: got}).Marshal(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got.Outcome != tt.outcome || !strings.HasPrefix(got.Reason, tt.reason) || (name == "usual") != (len(got.Counters) == 1) {
			t.Errorf("%s: %v, %.100s, %d counters", name, got.Outcome, got.Reason, len(got.Counters))
		}
	}
}
