package job

import "testing"

// TestBegins: what began is known best, then what the batch system expects, then what the plan did.
func TestBegins(t *testing.T) {
	r := AllocRequest{Start: 7}
	for want, l := range map[Time]Live{10: {Request: r, Began: 10, Start: 11, Ends: 99}, 11: {Request: r, Start: 11}, 7: {Request: r}, 0: {}} {
		if got := l.Begins(); got != want {
			t.Errorf("%+v begins at %d", l, got)
		}
	}
}
