package evaluate

import (
	"testing"
	"time"

	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// table2Mix is the mix of HPC and MapReduce jobs of table 2 under the given adaptors, as the command
// sets it up.
func table2Mix(b *testing.B, ways string) (Settings, study) {
	picked, err := ParseCases("--adaptors", ways)
	if err != nil {
		b.Fatal(err)
	}
	s := Settings{Seed: 1, Nodes: 128, Policy: batch.CBF, Run: sim.Run, Plain: true}
	hpc := HPC{Types: workload.Typed, Shape: PeakShape, Jobs: 400}
	mr := MR{Every: 14 * time.Second, Length: time.Hour, Users: 1}
	return s, s.study(load{Mixed, &hpc, &mr}, 18*time.Hour, picked)
}

// BenchmarkReplication measures one replication under some of the default adaptors of table 2, and
// under all of them.
func BenchmarkReplication(b *testing.B) {
	for _, ways := range []string{"naive,paper", "several", "yield", "naive,paper,several,yield"} {
		b.Run(ways, func(b *testing.B) {
			s, st := table2Mix(b, ways)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.replicate(b.Context(), &st, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkControls measures the computation of the controls of one load, which a replication needs
// for itself and for each of its pilots.
func BenchmarkControls(b *testing.B) {
	s, st := table2Mix(b, "naive")
	b.ReportAllocs()
	for b.Loop() {
		rigid, elastic := st.draw("", 0)
		if _, err := s.controls(b.Context(), rigid, elastic); err != nil {
			b.Fatal(err)
		}
	}
}
