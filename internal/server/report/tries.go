package report

import (
	"cmp"
	"slices"
	"time"
	"unique"
)

// Tries has attempts of a job that are over, in little memory, as there may be millions. The zero value has none.
type Tries struct {
	rows []tried
}

// tried is an attempt.
type tried struct {
	task, attempt int32
	texts         unique.Handle[Try] // of it; many attempts have the same
	mem, peak     int64
	seconds       float64
	started       time.Time
}

// Add adds an attempt.
func (t *Tries) Add(r AttemptRow) {
	x := tried{task: int32(r.Task), attempt: int32(r.Attempt), mem: r.Mem, seconds: r.Seconds, started: r.Started,
		texts: unique.Make(Try{Node: r.Node, Host: r.Host, Outcome: r.Outcome, Lack: r.Lack, Why: r.Reason})}
	for _, p := range r.Phases {
		x.peak = max(x.peak, p.PeakMem)
	}
	t.rows = append(t.rows, x)
}

// sort sorts the attempts by task, those of a task in their order.
func (t *Tries) sort() {
	slices.SortStableFunc(t.rows, func(a, b tried) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.attempt, b.attempt)) })
}

// of returns the attempts of a task, once they are sorted.
func (t *Tries) of(task int) []Try {
	i, _ := slices.BinarySearchFunc(t.rows, int32(task), func(x tried, task int32) int { return cmp.Compare(x.task, task) })
	tries := []Try{}
	for ; i < len(t.rows) && int(t.rows[i].task) == task; i++ {
		x := t.rows[i]
		a := x.texts.Value()
		a.Attempt, a.Mem, a.Started, a.PeakMem, a.Seconds = int(x.attempt), x.mem, x.started, x.peak, x.seconds
		tries = append(tries, a)
	}
	return tries
}
