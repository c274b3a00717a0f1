package job

import "testing"

// TestBegins checks the order of preference: the actual begin, the batch system's prediction, the plan's prediction.
func TestBegins(t *testing.T) {
	r := AllocRequest{Start: 7}
	for want, l := range map[Time]Live{10: {Request: r, Began: 10, Start: 11, Ends: 99}, 11: {Request: r, Start: 11}, 7: {Request: r}, 0: {}} {
		if got := l.Begins(); got != want {
			t.Errorf("%+v begins at %d", l, got)
		}
	}
}
