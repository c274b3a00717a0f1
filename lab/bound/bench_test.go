package bound

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/simulate/workload"
)

// BenchmarkFacebook prints the bounds for the Facebook mix on 128 nodes.
func BenchmarkFacebook(b *testing.B) {
	for _, every := range []time.Duration{60 * s, 20 * s, 14 * s, 10 * s} {
		b.Run(fmt.Sprint(every), func(b *testing.B) {
			m := NewMachine(128, 1, nil)
			var jobs []Job
			for _, e := range workload.Drawn(workload.NewFacebook(workload.Facebook{Every: every}, rand.New(rand.NewPCG(1, 2))).Next, 1000, 0) {
				jobs = append(jobs, m.Elastic(&e))
			}
			var got Bounds
			for b.Loop() {
				got = m.Of(jobs)
			}
			b.ReportMetric(got.Area, "area-s")
			b.ReportMetric(got.Height, "height-s")
			b.ReportMetric(got.Joint, "joint-s")
		})
	}
}
