package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkOpenClosed runs 10,000 tasks of /bin/true in an open bag, to which one call adds them, and in a closed one, from the start of the first task to the
// end of the job.
func BenchmarkOpenClosed(b *testing.B) {
	w := newWorld(b)
	var lines strings.Builder
	for i := range bagTasks {
		fmt.Fprintln(&lines, i)
	}
	w.write("lines", lines.String())
	flags := []string{"--stdout", "none", "--stderr", "none"}
	pair(b, "closed", func() time.Duration {
		w.must(append(append([]string{"bag", "--open"}, flags...), "--", "/bin/true")...)
		w.must("add", "last", "--each-line", "lines")
		w.must("close", "last")
		w.must("wait", "last")
		return ran(b, w)
	}, func() time.Duration {
		w.must(append(append([]string{"bag", "--each-line", "lines"}, flags...), "--", "/bin/true")...)
		return ran(b, w)
	})
}

// ran returns how long the last job ran.
func ran(b *testing.B, w *world) time.Duration {
	b.Helper()
	var v struct{ Started, Ended time.Time }
	if err := json.Unmarshal([]byte(w.must("report", "last", "--json").stdout), &v); err != nil || v.Ended.Before(v.Started) {
		b.Fatal(v, err)
	}
	return v.Ended.Sub(v.Started)
}

// BenchmarkAddLines adds 100,000 tasks in lines to an open bag, in one call and in ten.
func BenchmarkAddLines(b *testing.B) {
	for _, calls := range []int{1, 10} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) { addLines(b, calls) })
	}
}

func addLines(b *testing.B, calls int) {
	const tasks = 100_000
	w := newWorld(b)
	var adds [][]string
	for call := range calls {
		name := fmt.Sprintf("lines.%d", call)
		adds = append(adds, []string{"add", "last", "--tasks", name})
		var lines strings.Builder
		for i := range tasks / calls {
			fmt.Fprintf(&lines, `{"name":"align-%d-%d","command":["bash","jobs/run.%d.sh"],"cpus":%d,"mem":"400M","time":"1h"}`+"\n", call, i, i, i%2+1)
		}
		w.write(name, lines.String())
	}
	var took []float64
	for b.Loop() {
		w.must("bag", "--open", "--throttle", "1", "--", "sleep") // the first task keeps the others waiting
		w.must("add", "last", ":::", "1000")
		took = append(took, each(w, adds...).Seconds())
		w.must("cancel", "last")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "s")
}

// BenchmarkWatch has a command watch a bag of 100,000 tasks of /bin/true, and reports the processor time of that command, the duration of the bag, and the
// lines for each second of processor time.
func BenchmarkWatch(b *testing.B) {
	const tasks = 100_000
	w := newWorld(b)
	var cpu, bags []float64
	for b.Loop() {
		begun := time.Now()
		w.must("bag", "--detach", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "none", "--stderr", "none", "--", "/bin/true")
		cmd := w.command("watch", "last", "--json")
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		bags = append(bags, time.Since(begun).Seconds())
		cpu = append(cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(cpu), "cpu-s")
	b.ReportMetric(median(bags), "s/bag")
	b.ReportMetric((3*tasks+1)/median(cpu), "lines/cpu-s")
}

// each times commands, one after the other.
func each(w *world, commands ...[]string) time.Duration {
	begun := time.Now()
	for _, args := range commands {
		w.must(args...)
	}
	return time.Since(begun)
}
