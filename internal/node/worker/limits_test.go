package worker

import (
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
)

// allocates is a command of the shell that uses about 60 MB.
const allocates = `x=$(head -c 60000000 /dev/zero | tr '\0' x); echo ${#x}; `

// TestLack: an attempt that uses more memory or time than its message allows, and not more than its job does, is killed, and its end
// says what it ran out of. One with enough of both is done.
func TestLack(t *testing.T) {
	for _, c := range []struct {
		name    string
		command string
		mem     int64
		limit   time.Duration
		want    event.Lack
		reason  string
	}{
		{"memory", allocates + "sleep 1000", 20 << 20, 0, event.LackMemory, "of its 20M of memory"},
		{"time", "sleep 1000", 0, 50 * time.Millisecond, event.LackTime, "its time limit of 50ms"},
		{"enough", allocates, 1 << 30, time.Hour, event.LackNothing, ""},
		{"its own failure", "exit 3", 1 << 30, time.Hour, event.LackNothing, "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, p := startWorker(t)
			s := shell(t, c.command)
			s.Bag.Need.Mem, s.Bag.TimeLimit = 1<<30, time.Hour
			if c.want == event.LackNothing { // the message allows more than the job
				s.Bag.Need.Mem, s.Bag.TimeLimit = 1<<20, time.Nanosecond
			}
			p.job(s, 0, 0)
			m := start(try(s.ID, 0, 1), "x")
			m.Mem, m.TimeLimit = c.mem, c.limit
			p.say(m)
			outcome := event.Failed
			if c.reason == "" {
				outcome = event.Done
			}
			if e := p.ended(outcome); e.Lack != c.want || !strings.Contains(e.Reason, c.reason) {
				t.Errorf("it lacked %q: %s", e.Lack, e.Reason)
			}
		})
	}
}
