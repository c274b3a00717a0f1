package ui

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/report"
)

// Three times of a job are predicted and compared with the actual ones by --accuracy. They have the same names in all
// output: start, from submission to the first task; run, from the first task to the end; turnaround, the sum of both.
// After a resume they are counted from the resume and concern the tasks that were left.

// startText describes actual and predicted start of a job on a batch system. It is empty without a queue.
func startText(v report.JobView) string {
	if v.Expected == nil {
		return ""
	}
	text := "predicted " + seconds(predictedStart(v))
	if s := v.PredictedStart; s != nil && s.High > 0 {
		up := max(0, v.Expected.Start-v.Expected.Wait) // until workers are ready
		text = fmt.Sprintf("predicted %s (%s to %s in four of five cases), by %s",
			seconds(s.Median+up), seconds(s.Low+up), seconds(s.High+up), startSource(s))
	}
	return resumed(v) + beside(v.WaitS, text)
}

// slack returns how long before its deadline a job ends, as in "20m" or "-3m"; empty: unknown, or it has no deadline.
func slack(v report.JobView) string {
	switch {
	case v.SlackS == nil:
		return ""
	case *v.SlackS < 0:
		return "-" + whole(-*v.SlackS)
	}
	return whole(*v.SlackS)
}

// deadlineText says how long before or after its deadline a job ends.
func deadlineText(v report.JobView) string {
	if v.Deadline.IsZero() {
		return ""
	}
	text := v.Deadline.Local().Format("2006-01-02 15:04:05")
	end := "is expected to end "
	if v.State == event.StateDone {
		end = "ended "
	}
	switch s := slack(v); {
	case s == "":
	case s[0] == '-':
		text += "; the job " + end + s[1:] + " after it"
	default:
		text += "; the job " + end + s + " before it"
	}
	return text
}

// startSource says from what a start was predicted.
func startSource(s *plan.Start) string {
	return "the run times of " + job.Count(s.Jobs, "job") + " in this queue" + lead(", and your last ", counted(s.Starts, "start", ""))
}

// predictedStart returns the predicted seconds until the first task.
func predictedStart(v report.JobView) float64 { return max(v.Expected.Start, v.Expected.Wait) } // older views have no start

// runText describes actual and predicted run time, and the source of the prediction.
func runText(v report.JobView) string {
	p := v.Predicted
	if p == nil {
		return resumed(v) + beside(v.ActualS, "no prediction")
	}
	return resumed(v) + beside(v.ActualS, "predicted "+span(p.LowSeconds, p.UpSeconds)) + judged(v) + lead("; from ", p.Source)
}

// turnaroundText describes actual and predicted turnaround of a job on a batch system. It is empty without a queue.
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

// replanText describes the actual and the predicted time from a plan to the end of the job. The prediction alone is part of the decision.
func replanText(p report.PlanView) string {
	switch {
	case p.ActualS == nil:
		return ""
	case p.UpSeconds == 0:
		return "; took " + seconds(*p.ActualS)
	}
	return fmt.Sprintf("; took %s, predicted %s, %s on average", seconds(*p.ActualS), span(p.LowSeconds, p.UpSeconds), seconds(p.MeanSeconds))
}

// beside puts the actual time, if known, before the predicted one.
func beside(actual *float64, predicted string) string {
	if actual == nil {
		return predicted
	}
	return seconds(*actual) + ", " + predicted
}

// resumed returns the prefix for the times of a job that was resumed.
func resumed(v report.JobView) string {
	if v.Resumed.IsZero() {
		return ""
	}
	return "since the resume: "
}

// judged returns by how much the run time exceeded its upper bound or fell below its lower one.
func judged(v report.JobView) string {
	if v.ActualS == nil || v.OffBy == nil || *v.OffBy == 0 {
		return ""
	}
	if *v.OffBy > 0 {
		return " (" + percent(*v.OffBy) + " above)"
	}
	return " (" + percent(-*v.OffBy) + " below)"
}
