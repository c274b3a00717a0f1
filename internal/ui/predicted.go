package ui

import (
	"fmt"

	"berth/internal/report"
)

// Three times of a job are predicted, and judged by --accuracy. They have the same names
// wherever they are told: the start, from submission to the first task; the run, from the
// first task to the end; the turnaround, which is both. After a resume they are counted from
// then on and are about what was left.

// startText says when the first task of a job on a batch system started, beside what was
// predicted. It is empty where there is no queue.
func startText(v report.JobView) string {
	if v.Expected == nil {
		return ""
	}
	return resumed(v) + beside(v.WaitS, "predicted "+seconds(predictedStart(v)))
}

// predictedStart returns the predicted seconds until the first task.
func predictedStart(v report.JobView) float64 { return max(v.Expected.Start, v.Expected.Wait) } // older views tell no start

// runText says how long a job ran beside what was predicted and from what.
func runText(v report.JobView) string {
	p := v.Predicted
	if p == nil {
		return resumed(v) + beside(v.ActualS, "no prediction")
	}
	text := resumed(v) + beside(v.ActualS, "predicted "+span(p.LowSeconds, p.UpSeconds)) + judged(v)
	if p.Source != "" {
		text += "; from " + clean(p.Source)
	}
	return text
}

// turnaroundText says how long a job on a batch system took from submission to its end,
// beside what was predicted. It is empty where there is no queue.
func turnaroundText(v report.JobView) string {
	e := v.Expected
	if e == nil || e.Turnaround == 0 && v.TurnaroundS == nil {
		return ""
	}
	text := "no prediction"
	if p := v.Predicted; p != nil && e.Turnaround > 0 {
		start := predictedStart(v)
		text = fmt.Sprintf("predicted %s, %s on average", span(start+p.LowSeconds, start+p.UpSeconds), seconds(e.Turnaround))
	} else if e.Turnaround > 0 {
		text = fmt.Sprintf("predicted %s on average", seconds(e.Turnaround))
	}
	return resumed(v) + beside(v.TurnaroundS, text)
}

// beside puts a time that is known before what was predicted of it.
func beside(actual *float64, predicted string) string {
	if actual == nil {
		return predicted
	}
	return seconds(*actual) + ", " + predicted
}

// resumed says from when on times are counted, of a job that was resumed.
func resumed(v report.JobView) string {
	if v.Resumed.IsZero() {
		return ""
	}
	return "since the resume: "
}

// judged says how the run time compares with its prediction, once it is known.
func judged(v report.JobView) string {
	if v.ActualS == nil || v.OffBy == nil || *v.OffBy == 0 {
		return ""
	}
	if *v.OffBy > 0 {
		return " (" + percent(*v.OffBy) + " above)"
	}
	return " (" + percent(-*v.OffBy) + " below)"
}
