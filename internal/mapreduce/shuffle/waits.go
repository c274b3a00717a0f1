package shuffle

import (
	"sync"
	"time"
)

// waits measures the time during which no copier has anything to fetch.
type waits struct {
	report func(time.Duration)

	mu    sync.Mutex
	busy  int       // copiers that fetch
	since time.Time // when busy last became 0
}

// begin records that a copier begins a fetch, end that it has finished it.
func (w *waits) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy == 0 {
		w.report(time.Since(w.since))
	}
	w.busy++
}

func (w *waits) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy--; w.busy == 0 {
		w.since = time.Now()
	}
}
