package mapreduce

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
)

// whims is a supply and grants drawn at random.
type whims struct {
	t    *testing.T
	rand *rand.Rand
	lent int64
}

func (w *whims) Take() extsort.Means {
	m := extsort.Means{Memory: []int64{0, littleMemory, 30_000, 1 << 20}[w.rand.IntN(4)], Files: []int{0, 2, 5}[w.rand.IntN(3)]}
	w.lent += m.Memory + 1
	return m
}

func (w *whims) Give(m extsort.Means) { w.lent -= m.Memory + 1 }

func (w *whims) enter(prog Progress) func(job.Phase, func()) error {
	wait := asking(prog, func(p job.Phase) error {
		if w.lent != 0 {
			w.t.Errorf("memory is held by an attempt that waits for %v", p)
		}
		return nil
	})
	return func(p job.Phase, idle func()) error {
		if w.rand.IntN(2) == 0 {
			return freely(prog)(p, idle)
		}
		return wait(p, idle)
	}
}

// sums adds up the numbers of lines "key TAB number" that follow each other.
var sums = programFunc(func(_ context.Context, in io.Reader, out io.Writer) error {
	var text, sum bytes.Buffer
	if err := pump(&text, in); err != nil {
		return err
	}
	for list := lines(text.Bytes()); len(list) > 0; {
		key, _, _ := bytes.Cut(list[0], []byte("\t"))
		n := 0
		for len(list) > 0 && bytes.HasPrefix(list[0], append(bytes.Clone(key), '\t')) {
			m, err := strconv.Atoi(string(list[0][len(key)+1:]))
			if err != nil {
				return err
			}
			n, list = n+m, list[1:]
		}
		fmt.Fprintf(&sum, "%s\t%d\n", key, n)
	}
	return pump(out, &sum)
})

// The memory that attempts get, and whether they wait for a grant, do not change the output.
func TestGrantsDoNotChangeOutput(t *testing.T) {
	numbers := func(seed uint64, n int) []byte { return bytes.ReplaceAll(text(seed, n), []byte("value"), []byte("1")) }
	long := append(bytes.Repeat([]byte("x"), 40_000), "\t7\n"...)
	count := func(combines bool) *cluster {
		c := newCluster(t, numbers(1, 2000), slices.Concat(numbers(2, 1000), long, numbers(3, 1000)), numbers(4, 50))
		c.reduces, c.reducer = 2, sums
		if combines {
			c.combiner = sums
		}
		return c
	}
	want := bytes.Join(count(false).run(), nil)
	for seed := range uint64(16) {
		w := &whims{t: t, rand: rand.New(rand.NewPCG(seed, 0))}
		c := count(seed%2 == 0)
		c.supply, c.enter = w, w.enter
		if got := bytes.Join(c.run(), nil); !bytes.Equal(got, want) {
			t.Errorf("seed %d: %d bytes of output, want %d", seed, len(got), len(want))
		}
		if w.lent != 0 {
			t.Errorf("seed %d: %d bytes were not given back", seed, w.lent)
		}
	}
}
