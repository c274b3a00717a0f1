package batch

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/simulate/workload/swf"
	"berth/test/support/tracetest"
)

// BenchmarkReplay replays the trace of SDSC SP2, including reading it.
func BenchmarkReplay(b *testing.B) {
	path := tracetest.Path(b, tracetest.SDSCFiltered)
	for _, p := range []Policy{FCFS, EASY, CBF} {
		for _, e := range []swf.Estimates{swf.Exact, swf.User} {
			b.Run(fmt.Sprintf("%s/%s", p, e), func(b *testing.B) {
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					jobs := read(b, path, e)
					Replay(128, p, jobs)
					n += len(jobs)
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "jobs/s")
				reportPeak(b)
			})
		}
	}
}

// BenchmarkCBFQueue measures the end of a job and the arrival of the jobs that replace those that
// started, with a constant queue length. With estimated wall times nearly every end is early and
// causes a sweep, whose number of moved reservations is reported.
func BenchmarkCBFQueue(b *testing.B) {
	for _, exact := range []bool{true, false} {
		for _, n := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("exact=%v/waiting=%d", exact, n), func(b *testing.B) {
				q := newQueue(128, CBF, n, exact)
				for range 20 {
					q.event()
				}
				b.ReportAllocs()
				for b.Loop() {
					q.event()
				}
				b.ReportMetric(q.moves(1000000/n), "moves/op")
				reportPeak(b)
			})
		}
	}
}

// moves returns the mean number of reservations that an event moves.
func (q *queue) moves(events int) float64 {
	plans, moves := map[ID]job.Time{}, 0
	for range events {
		for e := range q.sys.Waiting() {
			plans[e.ID] = e.Start
		}
		q.event()
		for e := range q.sys.Waiting() {
			if at, ok := plans[e.ID]; ok && at != e.Start {
				moves++
			}
		}
	}
	return float64(moves) / float64(events)
}

// reportPeak reports the peak memory of the process if the system provides it.
func reportPeak(b *testing.B) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if kB, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			n := 0.0
			fmt.Sscan(kB, &n)
			b.ReportMetric(n/1024, "peak-MiB")
		}
	}
}
