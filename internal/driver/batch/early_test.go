package batch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/driver"
)

// TestEarlyEnds checks what the end of a job tells about its nodes: one whose script or worker ends at once has a bad node, which the reason names,
// one that was taken has none, and none of these ends refuses such jobs for ever.
func TestEarlyEnds(t *testing.T) {
	ended := Verdict{Script: true, Failed: true, Exit: 1}
	for _, c := range []struct {
		name  string
		now   Status
		files map[string]string
		how   event.AllocEnd
		bad   string
	}{
		{"its script fails at once", Status{Hosts: []string{"n7", "n8"}, Verdict: ended}, nil, event.EndBroken, "n7"},
		{"its script fails at once, nobody knows where", Status{Verdict: ended}, nil, event.EndBroken, ""},
		{"its second worker cannot start", Status{Hosts: []string{"n7", "n8"}, Verdict: ended}, map[string]string{"1" + FailedEnd: "", "0" + hostEnd: "n7", "1" + hostEnd: "n8\n"}, event.EndBroken, "n8"},
		{"its workers have ended", Status{Hosts: []string{"n7"}, Verdict: Verdict{Script: true}}, map[string]string{"0" + hostEnd: "n7"}, event.EndUsual, ""},
		{"it was preempted", Status{Verdict: Verdict{Reason: "it was preempted", Taken: true}}, nil, event.EndTaken, ""},
		{"it has used its memory", Status{Verdict: Verdict{Reason: "it ran out of memory"}}, nil, event.EndUsual, ""},
	} {
		s := aSite(Options{Setup: driver.Setup{}, Dir: t.TempDir()})
		a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 2}}
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := s.ended(a, c.now)
		if e.How != c.how || e.Bad != c.bad {
			t.Errorf("%s: %d and %q, want %d and %q", c.name, e.How, e.Bad, c.how, c.bad)
		}
		if c.files == nil && c.bad != "" && !strings.Contains(e.Reason, c.bad) {
			t.Errorf("%s: the reason does not name the node: %s", c.name, e.Reason)
		}
	}
}
