package job

import (
	"encoding/json"
	"testing"
)

// TestProgressSourceNames fixes the names of the sources, because scripts read them.
func TestProgressSourceNames(t *testing.T) {
	for s, want := range map[ProgressSource]string{
		ProgressNone: `"none"`, ProgressHits: `"hits"`, ProgressInput: `"input"`, ProgressIO: `"io"`, ProgressCPU: `"cpu"`, ProgressInstructions: `"instructions"`,
	} {
		b, err := json.Marshal(s)
		if err != nil || string(b) != want {
			t.Errorf("source %d is written as %s (%v), want %s", s, b, err, want)
		}
		var back ProgressSource
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%s is read as %v (%v)", b, back, err)
		}
	}
	if _, err := json.Marshal(ProgressSource(200)); err == nil {
		t.Error("a source that does not exist is written")
	}
	var s ProgressSource
	if err := json.Unmarshal([]byte(`"guess"`), &s); err == nil {
		t.Error("an unknown name is read")
	}
}
