package batch

import (
	"testing"
)

func BenchmarkCBFTrace(b *testing.B) {
	for _, exact := range []bool{true, false} {
		b.Run(map[bool]string{true: "exact", false: "user"}[exact], func(b *testing.B) {
			jobs := sdsc(b, exact)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				Replay(128, CBF, jobs)
			}
			b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
