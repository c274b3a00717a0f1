package memory

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const mib = 1 << 20

// learned returns the history of tasks with inputs of 1 to n MiB that used what peak says.
func learned(n int, peak func(i int) int64) *History {
	h := &History{}
	for i := range n {
		h.Learn(Sample{Size: int64(i+1) * mib, Peak: peak(i + 1), Time: time.Minute})
	}
	return h
}

// TestFew: nothing is said of an application that is not known.
func TestFew(t *testing.T) {
	if b, known := learned(2, func(int) int64 { return mib }).First(mib); known {
		t.Errorf("after two tasks the third gets %d bytes", b)
	}
	if got := (&History{}).Next(mib, 100*mib); got < 200*mib || got > 201*mib {
		t.Errorf("without samples a task that ran out of 100 MiB gets %d", got)
	}
}

// TestShapes: memory that is always the same, grows with the input, has two levels, or grew some time ago, is found, with a few
// per cent to spare.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		peak func(i int) int64
		size int64 // of the task, in MiB
		want int64
	}{
		{"always the same", func(int) int64 { return 500 * mib }, 50, 500},
		{"in proportion to the input", func(i int) int64 { return int64(100+10*i) * mib }, 30, 400},
		{"more than was seen", func(i int) int64 { return int64(100+10*i) * mib }, 50, 600},
		{"two levels by the input", func(i int) int64 {
			if i > 25 {
				return 4000 * mib
			}
			return 200 * mib
		}, 10, 200},
		{"a new version of the program", func(i int) int64 {
			if i > 20 {
				return 800 * mib
			}
			return 300 * mib
		}, 41, 800},
	} {
		h := learned(40, c.peak)
		b, known := h.First(c.size * mib)
		if got := float64(b) / mib; !known || got < float64(c.want) || got > 1.1*float64(c.want) {
			t.Errorf("%s: %.0f MiB, want %d and little more", c.name, got, c.want)
		}
	}
}

// TestNoise: of tasks that use memory at random, at most a tenth or so run out of their first limit, and each has enough
// after few further ones.
func TestNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	h := &History{}
	failed, tries, n := 0, 0, 2000
	for range n {
		peak := int64(float64(100*mib) * (1 + rng.ExpFloat64()))
		if b, known := h.First(mib); known {
			if b < peak {
				failed++
			}
			for ; b < peak; tries++ {
				b = h.Next(mib, b)
			}
		}
		h.Learn(Sample{Size: mib, Peak: peak, Time: time.Second})
	}
	if failed > n*13/100 || tries > 2*failed {
		t.Errorf("of %d tasks %d ran out of memory, and had %d further tries", n, failed, tries)
	}
}

// TestAnyHistory: whatever was learned, limits are above 0, and each next one is larger.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &History{}
		for range rapid.IntRange(0, 300).Draw(t, "samples") {
			h.Learn(Sample{Size: rapid.Int64Range(0, 1<<50).Draw(t, "size"), Peak: rapid.Int64Range(-1, 1<<45).Draw(t, "peak"),
				Time: time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "time"))})
		}
		size := rapid.Int64Range(0, 1<<50).Draw(t, "size")
		b, known := h.First(size)
		if known && b <= 0 {
			t.Fatalf("the first limit is %d", b)
		}
		for range 5 {
			next := h.Next(size, max(b, 1))
			if next <= b || next > 2*max(b, 1)+1 {
				t.Fatalf("after %d comes %d", b, next)
			}
			b = next
		}
		if len(h.samples) > window || len(h.outcomes[0]) > window {
			t.Fatal("too much is kept")
		}
	})
}
