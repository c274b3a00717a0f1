package process

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// A command that ends before it has read its input has failed, as for Hadoop, whether the rest is in the pipe or was not yet written to it.
// A little may be left, and is counted; a mapper with Hadoop's key may leave all.
func TestUnread(t *testing.T) {
	l, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	const none, large = -1, 4 << 20
	tests := []struct {
		script string
		size   int
		skip   int64
		lax    bool
		fails  string // the reason; empty: it does not fail
		unread int64  // as counted
	}{
		{"true", 0, none, false, "", 0},
		{"true", 100_000, none, false, "", 100_000},
		{"true", maxUnread, none, false, "", maxUnread},
		{"true", maxUnread + 1, none, false, "ended before", 0},
		{"true", large, none, false, "ended before", 0},
		{"head -c 10 > /dev/null", 300_000, none, false, "ended before", 0},
		{"dd bs=100000 count=2 2>/dev/null | wc -c", 300_000, none, false, "", 100_000},
		{"head -c 10; cat > /dev/null", large, none, false, "", 0},
		{"exec 0<&-; echo x", large, none, false, "ended before", 0},
		{"cat | head -c 10", large, none, false, "ended before", 0},
		{"cat > /dev/null & exit 0", 100, none, false, "", 100}, // a shell gives it no input
		{"true", large, 0, false, "", 0},
		{"printf 'a\nb\n'", large, 2, false, "", 0},
		{"printf 'a\nb'", large, 2, false, "ended before", 0},
		{"exit 3", large, none, false, "exit status 3", 0},
		{"exit 3", large, none, true, "ended before", 0},
		{"exit 3", 100_000, none, true, "", 100_000},
		{"exit 3", large, 0, true, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			log, meter := newLog(t)
			p := &Program{Set: &Set{Meter: meter}, Lanes: l, Find: func() (string, error) { return "/bin/sh", nil }, Log: log, Lax: tt.lax, Skip: tt.skip, Role: "combiner: ",
				Command: Command{Args: []string{"sh", "-c", tt.script}, Dir: t.TempDir(), Grace: time.Second}}
			err := p.Run(t.Context(), strings.NewReader(strings.Repeat("x", tt.size)), &bytes.Buffer{})
			if tt.fails != "" {
				if err == nil || FailureOf(err).Outcome != event.Failed || !strings.HasPrefix(err.Error(), "combiner: "+tt.fails) {
					t.Errorf("%d bytes: %v, want a failure: %s", tt.size, err, tt.fails)
				}
				return
			}
			if n := meter.Counters()[job.TaskCounterGroup+",UNREAD_INPUT_BYTES"]; err != nil || n != tt.unread {
				t.Errorf("%d bytes: %v, and %d bytes are counted as unread, want %d", tt.size, err, n, tt.unread)
			}
		})
	}
}
