package timeline

import (
	"encoding/json"
	"testing"
	"time"
)

// TestSlotJSON: what has no end is null, and comes back as it was.
func TestSlotJSON(t *testing.T) {
	for want, s := range map[string]Slot{
		`{"start_ns":7,"nodes":25,"duration_ns":2000000000}`: {Start: 7, Nodes: 25, Duration: 2 * time.Second},
		`{"start_ns":0,"nodes":1,"duration_ns":null}`:        {Nodes: 1, Duration: Unbounded},
		`{"start_ns":null,"nodes":0,"duration_ns":0}`:        {Start: Never},
	} {
		b, err := json.Marshal(s)
		if err != nil || string(b) != want {
			t.Errorf("%+v: got %s, %v; want %s", s, b, err, want)
		}
		var back Slot
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%s: got %+v, %v; want %+v", b, back, err, s)
		}
	}
	var s Slot
	if json.Unmarshal([]byte(`{"nodes":"many"}`), &s) == nil {
		t.Error("a slot of many nodes is read")
	}
}
