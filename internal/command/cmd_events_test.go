package command

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/internal/server/report"
)

// TestEventLines: tasks that are queued together share a line, but not as JSON.
func TestEventLines(t *testing.T) {
	var events []report.Event
	add := func(name, event string) {
		e := report.Event{Event: event, Name: name, At: time.Date(2026, 1, 1, 10, 0, len(events), 0, time.Local)}
		if name != "" {
			e.Task = new(int)
		}
		events = append(events, e)
	}
	for _, name := range []string{"1", "2", "3"} {
		add(name, "queued")
	}
	add("2", "started")
	add("d", "queued")
	add("", "closed")
	add("e", "queued")
	add("f", "queued")
	const want = "10:00:00 3 tasks are queued: 1 to 3\n10:00:03 task 2 started on \n10:00:04 task d is queued\n10:00:05 the job is closed\n10:00:06 2 tasks are queued: e to f\n"
	for _, asJSON := range []bool{false, true} {
		var text strings.Builder
		out := bufio.NewWriter(&text)
		p := eventPrinter{out: out, enc: json.NewEncoder(out), asJSON: asJSON}
		for _, e := range events {
			if err := p.print(e); err != nil {
				t.Fatal(err)
			}
		}
		p.tellQueued()
		if err := out.Flush(); err != nil || !asJSON && text.String() != want || asJSON && strings.Count(text.String(), "\n") != len(events) {
			t.Errorf("as JSON %v: %v\n%s", asJSON, err, &text)
		}
	}
}
