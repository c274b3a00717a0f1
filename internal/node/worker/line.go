package worker

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/node/process"
)

// line is the place of an attempt among those of short tasks that run one after another (engine/behind.go). It belongs
// to the worker's mutex.
type line struct {
	behind   *attempt  // the attempt after whose end it begins; nil: it has begun
	follower *attempt  // the attempt that is behind it; nil: none
	since    time.Time // when it began
}

// lineUp puts an attempt behind the one that its message names, and returns false if that has ended.
func (w *worker) lineUp(a *attempt) bool {
	a.since = a.begun
	lead := w.attempts[a.start.Behind]
	if lead == nil || lead.follower != nil {
		return false
	}
	a.behind, lead.follower = lead, a
	return true
}

// runLine runs an attempt in a lane, and then those behind it, so that no thread has to wake another one between them.
func (w *worker) runLine(a *attempt) {
	w.lanes.Run(a.work.change.Mask(), func(lane *process.Lane) {
		for a != nil {
			w.live(a, w.newBagTask(a, lane))
			a = a.follower // nobody else changes that of an attempt which has ended
		}
	})
}

// passOn notes that an attempt has ended, so that the one behind it begins. It reports whether there is one.
func (w *worker) passOn(a *attempt) bool {
	next := a.follower
	if next == nil {
		return false
	}
	next.behind, next.since = nil, time.Now()
	return true
}

// end kills an attempt. One that has not begun leaves its line, and ends at once.
func (w *worker) end(a *attempt, f *process.Failure) {
	a.kill(f)
	if a.behind != nil {
		w.leave(a)
		go w.finish(a, f, "")
	}
}

// leave takes an attempt that has not begun out of its line.
func (w *worker) leave(a *attempt) {
	if a.behind.follower = a.follower; a.follower != nil {
		a.follower.behind = a.behind
	}
	a.behind, a.follower = nil, nil
}

// lineWait is how long an attempt may run that others are behind. It is long for a short task, so that a busy machine gives nothing back: as long
// as attempts are sent behind others, no node waits for tasks.
const lineWait = time.Second

// giveBack returns the attempts that are behind one which takes longer than short tasks do. Others may run them sooner.
func (w *worker) giveBack(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.attempts {
		for a.behind == nil && a.follower != nil && now.Sub(a.since) >= lineWait {
			w.end(a.follower, returned)
		}
	}
}

// returned is the reason of attempts that are given back.
var returned = &process.Failure{Outcome: event.Killed, Returned: true, Reason: "not begun: the task before it took longer than expected"}
