package sim

import (
	"context"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
)

// BenchmarkRun simulates 300 jobs of the Facebook mix, about 46,000 tasks, on 128 nodes.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name    string
		adaptor Adaptor
		rigid   int
	}{
		{"naive", Adaptor{Way: Naive}, 0},
		{"paper", Adaptor{Way: Paper}, 0},
		{"berth-upper", Adaptor{Way: Berth, Request: job.Request{WallTime: job.WallUpper, MaxAllocs: 1, NoScout: true}}, 0},
		{"berth-one", Adaptor{Way: Berth, Request: job.Request{MaxAllocs: 1}}, 0},
		{"berth", Adaptor{Way: Berth}, 0},
		{"berth-scout", Adaptor{Way: Berth, Unknown: true}, 0},
		{"berth-shared", Adaptor{Way: Berth, Shared: true, Order: sched.FIFO}, 0},
		{"berth-shortest", Adaptor{Way: Berth, Shared: true, Order: sched.Shortest}, 0},
		{"mixed-paper", Adaptor{Way: Paper}, 300},
		{"mixed-berth", Adaptor{Way: Berth}, 300},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Config{Cluster: Cluster{Nodes: 128, MaxTime: 18 * time.Hour}, Policy: batch.CBF, Adaptor: c.adaptor, Seed: 1}
			cfg.Elastic = mix(300, 14*time.Second, 1)
			cfg.Rigid = hpc(c.rigid, 128, 500*time.Second, 1)
			tasks := 0
			for i := range cfg.Elastic {
				tasks += len(cfg.Elastic[i].Maps) + len(cfg.Elastic[i].Reduces)
			}
			for b.Loop() {
				r, err := Run(context.Background(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(meanTurnaround(r.Elastic), "mr-turnaround-s")
				b.ReportMetric(meanTurnaround(r.Rigid), "hpc-turnaround-s")
				b.ReportMetric(100*r.Utilization(128), "utilization-%")
			}
			b.ReportMetric(float64(tasks)*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}
