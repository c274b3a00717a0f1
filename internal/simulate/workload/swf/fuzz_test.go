package swf

import (
	"bytes"
	"testing"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// FuzzRead checks for any text that every line is a job, a comment, blank or odd, that refusing and
// skipping agree, and that the jobs can be simulated.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + line1 + line2))
	for _, odd := range oddLines {
		f.Add([]byte(line1 + odd.line + line2))
	}
	for _, odd := range oddJobs {
		f.Add([]byte(header + odd.line))
	}
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Read(bytes.NewReader(text), "f", Options{Odd: workload.Skip})
		_, strict := Read(bytes.NewReader(text), "f", Options{})
		if err != nil {
			if strict == nil {
				t.Fatalf("refused only where odd lines are skipped: %v", err)
			}
			return
		}
		if (strict == nil) != (len(l.Skipped) == 0) {
			t.Fatalf("skipped %v, refused %v", l.Skipped, strict)
		}
		if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) && len(l.Jobs)+len(l.Header)+len(l.Skipped) > bytes.Count(text, []byte("\n"))+1 {
			t.Fatal("more lines than there are")
		}
		simulable(t, l)
	})
}

func simulable(t *testing.T, l *Log) {
	for _, o := range []Options{{Odd: workload.Skip, Procs: 100}, {Procs: 100, Filter: true, Estimates: Exact}} {
		jobs, err := l.Rigid(o)
		if err != nil || len(jobs) != len(l.Jobs) {
			t.Fatalf("%d jobs, %d in the log, %v", len(jobs), len(l.Jobs), err)
		}
		last := job.Time(0)
		for _, j := range jobs {
			if j.Nodes < 1 || j.Nodes > 100 || j.Run < 0 || j.Run > workload.Longest || j.Request < 1 || j.Request > workload.Longest || j.Submit < last {
				t.Fatalf("job %+v", j)
			}
			last = j.Submit
		}
	}
}
