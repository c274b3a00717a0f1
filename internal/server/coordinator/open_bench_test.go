package coordinator

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/step"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// BenchmarkOpenBag adds 100,000 tasks in calls of 1,000 to an open bag, and reports the time of a call without the parsing of its
// lines, and the memory for each task that waits: its line, its state, and what is shown of it. Tasks have one of so many different needs.
func BenchmarkOpenBag(b *testing.B) {
	for _, different := range []int{1, 20} {
		b.Run(fmt.Sprintf("needs=%d", different), func(b *testing.B) { openBag(b, different) })
	}
}

func openBag(b *testing.B, different int) {
	const calls, together = 100, 1000
	for b.Loop() {
		before := heap()
		more := statedir.Run{ID: "bag-1", Dir: b.TempDir()}.More()
		e, view := engine.New(engine.Config{NodeTimeout: time.Minute}), report.New(report.Info{ID: "bag-1", Kind: job.Bag})
		do := func(in step.Input) {
			out, err := e.Step(job.Time(1), in)
			if err != nil {
				b.Fatal(err)
			}
			for _, r := range out.Records {
				view.Apply(event.Entry{At: 1, Record: r})
			}
		}
		do(step.Submit{Work: job.Work{ID: "bag-1", Kind: job.Bag, Open: true, Terms: job.Terms{Need: job.Resources{CPUs: 1}, Attempts: 1, MaxFails: -1},
			Alloc: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 2, Mem: 1 << 40}}}})
		for call := range calls {
			specs, needs := make([]task.Spec, together), job.NeedsList{}
			for i := range specs {
				name := fmt.Sprintf("sample-%06d", call*together+i)
				specs[i] = task.Spec{Name: name, Command: []string{"./fit.py", "--input", name + ".csv"}}
				specs[i].Mem = int64(i%different) << 30
				needs.Add(specs[i].Needs)
			}
			if _, twice := more.Named(specs[0].Name); twice { // as each call that names tasks asks
				b.Fatal("a name is there before it was added")
			}
			if err := more.Append(fmt.Sprint(call), specs); err != nil {
				b.Fatal(err)
			}
			do(step.Add{TasksAdded: event.TasksAdded{Job: "bag-1", N: together, Further: needs.Further, Which: needs.Runs()}})
		}
		b.ReportMetric(float64(heap()-before)/(calls*together), "B/task")
		runtime.KeepAlive(more)
		runtime.KeepAlive(e)
		runtime.KeepAlive(view)
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
