package dashboard

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// rateSteps is how many steps of the timeline make one of the throughput: 64 to 128 in all.
const rateSteps = 4

// throughputView has the work done in steps of equal length.
type throughputView struct {
	Start int64     `json:"start_ms"` // of the first step, milliseconds since 1970
	Step  int64     `json:"step_ms"`
	Tasks []float64 `json:"tasks_s"` // tasks done per second
	Bytes []float64 `json:"bytes_s"` // bytes that these tasks had read, per second
}

// throughput returns the work done in the window. The last step is the rest, half to one and a half times as long as
// the others.
func throughput(a *report.Spans, w window, until job.Time) throughputView {
	w, step := w.steps(a.Began, until)
	step *= rateSteps
	n := max(1, int((w.to.Sub(w.from)+step/2)/step))
	v := throughputView{Start: int64(w.from) / 1e6, Step: step.Milliseconds(), Tasks: []float64{}, Bytes: []float64{}}
	if a.Count == 0 {
		return v
	}
	v.Tasks, v.Bytes = make([]float64, n), make([]float64, n)
	for _, node := range a.Nodes {
		for _, s := range node.Spans {
			if s.Outcome == event.Done && !s.Further && s.End > w.from && s.End <= w.to {
				k := min(int(s.End.Sub(w.from)/step), n-1)
				v.Tasks[k]++
				v.Bytes[k] += float64(s.Bytes)
			}
		}
	}
	for k := range n {
		long := step
		if k == n-1 {
			long = w.to.Sub(w.from.Add(time.Duration(k) * step))
		}
		v.Tasks[k], v.Bytes[k] = v.Tasks[k]/long.Seconds(), v.Bytes[k]/long.Seconds()
	}
	return v
}
