package plant

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkPlant plants gzip with its library: some 4,000 functions. ms/1500 is the time for which
// the program is stopped for 1,500 functions. cpu-ms/1500 is the processor time of planting them,
// which does not depend on other programs on the machine.
func BenchmarkPlant(b *testing.B) {
	for name, dir := range map[string]string{"known": "", "kept": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			p := &Planter{Dir: dir}
			s, _ := planted(b, p, exact, os.Environ(), "gzip", "--version")
			s.Close()
			functions, ms, began := 0, 0.0, spent()
			for b.Loop() {
				if dir != "" {
					p = &Planter{Dir: dir}
				}
				s, _ := planted(b, p, Options{Exact: true}, os.Environ(), "gzip", "--version")
				_, standing := s.Planted()
				functions, ms = functions+len(s.Functions()), ms+standing.Seconds()*1000
				s.Close()
			}
			b.ReportMetric(ms/float64(functions)*1500, "ms/1500")
			b.ReportMetric((spent()-began).Seconds()*1000/float64(functions)*1500, "cpu-ms/1500")
			b.ReportMetric(float64(functions)/float64(b.N), "functions")
		})
	}
}

// spent returns the processor time of this process.
func spent() time.Duration {
	var use unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
