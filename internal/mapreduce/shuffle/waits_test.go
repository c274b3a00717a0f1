package shuffle

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWaits: time counts in which no copier fetches, not that in which one of several does.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told time.Duration
		w := &waits{report: func(d time.Duration) { told += d }, since: time.Now()}
		time.Sleep(3 * time.Second) // of the bubble's clock
		w.begin()
		time.Sleep(time.Second)
		w.begin()
		w.end()
		time.Sleep(time.Second)
		w.end()
		time.Sleep(2 * time.Second)
		w.begin()
		if told != 5*time.Second {
			t.Errorf("waited for %s, want 5 s", told)
		}
	})
}
