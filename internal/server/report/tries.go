package report

import (
	"cmp"
	"slices"
	"time"
)

// Tries has attempts of a job that are over, in little memory, as there may be millions. The zero value has none.
type Tries struct {
	rows  []tried
	words []string // each once
	known map[string]int32
}

// tried is an attempt. Its strings are indices of words.
type tried struct {
	task, attempt                  int32
	node, host, outcome, lack, why int32
	mem, peak                      int64
	seconds                        float64
	started                        time.Time
}

// Add adds an attempt.
func (t *Tries) Add(r AttemptRow) {
	x := tried{task: int32(r.Task), attempt: int32(r.Attempt), node: t.word(r.Node), host: t.word(r.Host), outcome: t.word(r.Outcome),
		lack: t.word(r.Lack), why: t.word(r.Reason), mem: r.Mem, seconds: r.Seconds, started: r.Started}
	for _, p := range r.Phases {
		x.peak = max(x.peak, p.PeakMem)
	}
	t.rows = append(t.rows, x)
}

func (t *Tries) word(s string) int32 {
	i, ok := t.known[s]
	if !ok {
		if t.known == nil {
			t.known = make(map[string]int32)
		}
		i = int32(len(t.words))
		t.known[s], t.words = i, append(t.words, s)
	}
	return i
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
		tries = append(tries, Try{Attempt: int(x.attempt), Node: t.words[x.node], Host: t.words[x.host], Mem: x.mem, Started: x.started,
			Outcome: t.words[x.outcome], Lack: t.words[x.lack], Why: t.words[x.why], PeakMem: x.peak, Seconds: x.seconds})
	}
	return tries
}
