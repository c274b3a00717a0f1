package report

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"berth/internal/core/job"
)

// Tries has attempts of a job in some twenty bytes each, as there may be millions. The zero value has none.
type Tries struct {
	pieces [][]byte    // of pieceSize each; the attempts are encoded one after the other, none in two pieces
	last   []uint32    // by task: behind how many bytes its last attempt begins, and 1; 0: it has none
	kinds  []Try       // what many attempts have in common: all but numbers
	byKind map[Try]int // the place of each in kinds
	from   job.Time    // when the first one that was added had begun
}

const (
	pieceSize = 1 << 20
	tryFields = 7 // of an encoded attempt, each a varint: see add
)

// add adds an attempt of a task. kind has of it what are no numbers.
func (t *Tries) add(of job.Attempt, kind Try, mem int64, started job.Time, seconds float64, peak int64) {
	k, known := t.byKind[kind]
	if !known {
		if t.byKind == nil {
			t.byKind, t.from = make(map[Try]int), started
		}
		k = len(t.kinds)
		t.kinds, t.byKind[kind] = append(t.kinds, kind), k
	}
	if more := of.Task + 1 - len(t.last); more > 0 {
		t.last = append(t.last, make([]uint32, more)...)
	}
	var room [tryFields * binary.MaxVarintLen64]byte
	row := room[:0]
	for _, v := range [tryFields]int64{int64(t.last[of.Task]), int64(k), int64(of.N), mem, int64(started - t.from), int64(math.Round(seconds * 1e6)), peak} {
		row = binary.AppendVarint(row, v)
	}
	n := len(t.pieces) - 1
	if n < 0 || len(t.pieces[n])+len(row) > pieceSize {
		t.pieces, n = append(t.pieces, make([]byte, 0, pieceSize)), n+1
	}
	t.last[of.Task] = uint32(n*pieceSize + len(t.pieces[n]) + 1)
	t.pieces[n] = append(t.pieces[n], row...)
}

// addEnd adds an attempt that is over.
func (t *Tries) addEnd(host string, r *ending) {
	peak, _ := job.Peak(r.Stats)
	t.add(r.id, Try{Node: string(r.node), Host: host, Outcome: r.Outcome.String(), Lack: r.Lack.String(), Why: r.Reason}, r.mem, r.started, r.seconds, peak)
}

// of returns the attempts of a task, in their order.
func (t *Tries) of(task int) []Try {
	tries := []Try{}
	if t == nil || task >= len(t.last) {
		return tries
	}
	for at := int(t.last[task]); at > 0; {
		row := t.pieces[(at-1)/pieceSize][(at-1)%pieceSize:]
		var v [tryFields]int64
		for i := range v {
			n := 0
			v[i], n = binary.Varint(row)
			row = row[n:]
		}
		at = int(v[0])
		a := t.kinds[v[1]]
		a.Attempt, a.Mem, a.Started, a.Seconds, a.PeakMem = int(v[2]), v[3], (t.from + job.Time(v[4])).Std(), float64(v[5])/1e6, v[6]
		tries = append(tries, a)
	}
	slices.Reverse(tries) // now those that ended first are first
	slices.SortStableFunc(tries, func(a, b Try) int { return cmp.Compare(a.Attempt, b.Attempt) })
	return tries
}
