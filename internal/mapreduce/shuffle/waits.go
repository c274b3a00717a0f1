package shuffle

import (
	"sync"
	"time"
)

// waits adds up the time in which no copier has anything to fetch.
type waits struct {
	tell func(time.Duration)

	mu    sync.Mutex
	busy  int       // copiers that fetch
	since time.Time // when busy last became 0
}

// begin says that a copier has something to fetch, end that it is done with it.
func (w *waits) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy == 0 {
		w.tell(time.Since(w.since))
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
