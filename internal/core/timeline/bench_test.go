package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkReserve measures conservative backfilling on 128 nodes for several queue lengths: a job
// arrives, gets the earliest fit, and the time advances so that the length of the queue stays the
// same.
func BenchmarkReserve(b *testing.B) {
	for _, waiting := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			const nodes = 128
			rng := rand.New(rand.NewPCG(1, 2))
			line := New(0, nodes)
			arrive := func() {
				n, d := 1<<rng.IntN(8), time.Duration(1+rng.ExpFloat64()*float64(time.Hour))
				if rng.IntN(5) == 0 {
					n = 1 + rng.IntN(nodes)
				}
				at, _ := line.EarliestFit(line.From(), n, d)
				line.Add(at, at.Add(d), -n)
			}
			for range waiting {
				arrive()
			}
			queue := line.Last().Sub(line.From())
			b.ReportAllocs()
			for b.Loop() {
				arrive()
				line.Advance(line.Last().Add(-queue))
			}
			b.ReportMetric(float64(len(line.Steps())), "steps")
		})
	}
}
