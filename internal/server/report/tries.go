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
	task, attempt                  int32
	node, host, outcome, lack, why unique.Handle[string]
	mem, peak                      int64
	seconds                        float64
	started                        time.Time
}

// Add adds an attempt.
func (t *Tries) Add(r AttemptRow) {
	x := tried{task: int32(r.Task), attempt: int32(r.Attempt), node: unique.Make(r.Node), host: unique.Make(r.Host), outcome: unique.Make(r.Outcome),
		lack: unique.Make(r.Lack), why: unique.Make(r.Reason), mem: r.Mem, seconds: r.Seconds, started: r.Started}
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
		tries = append(tries, Try{Attempt: int(x.attempt), Node: x.node.Value(), Host: x.host.Value(), Mem: x.mem, Started: x.started,
			Outcome: x.outcome.Value(), Lack: x.lack.Value(), Why: x.why.Value(), PeakMem: x.peak, Seconds: x.seconds})
	}
	return tries
}
