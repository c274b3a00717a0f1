package ui

import (
	"cmp"
	"fmt"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// title returns a job's id, with its name if it has one.
func title(v report.JobView) string {
	if v.Name == string(v.ID) {
		return string(v.ID)
	}
	return string(v.ID) + aside(clean(v.Name))
}

// headline returns the line with the decision.
func headline(v report.JobView) string {
	return title(v) + ": " + cmp.Or(clean(v.Decision), job.Count(v.TasksTotal, "task"))
}

// opening returns the first lines of a job's progress.
func opening(v report.JobView, c color) []string {
	lines := []string{c.bold(headline(v))}
	for _, n := range v.Notes {
		lines = append(lines, "note: "+clean(n))
	}
	return lines
}

// wholeLine describes the state of a job that is not over in one line, without that of the batch system.
func wholeLine(v report.JobView) string {
	state := fmt.Sprintf("%s %s", v.ID, v.State)
	switch {
	case v.State == event.StateQueued && len(v.After) > 0:
		state += " until " + explain.AllDone(v.After)
	case v.State == event.StateQueued && v.Waits == nil:
		state += " (why: berth explain " + string(v.ID) + ")"
	case v.State == event.StateStopping:
		state += lead(": ", clean(v.Reason))
	}
	return list(state, lead("after ", some(v.ElapsedS, seconds)), etaText(v), lead("slack ", slack(v)), counted(v.Attempts.Lost, "attempt", " lost"))
}

// etaText says when a job is expected to end, and what is to be known of that; empty if it is unknown.
func etaText(v report.JobView) string {
	switch {
	case v.EtaS == nil:
		return ""
	case v.EtaFrom == report.EtaFromPrediction:
		return eta(*v.EtaS) + " (predicted)"
	case v.EtaAtLimit == 1:
		return eta(*v.EtaS) + " (1 running task is expected to reach the time limit)"
	}
	return eta(*v.EtaS) + aside(counted(v.EtaAtLimit, "running task", " are expected to reach the time limit"))
}

// Summary returns the closing lines on a job: its result, its times and their prediction, its output, and what to do
// next if it is not done.
func Summary(v report.JobView) []string {
	var line string
	switch v.State {
	case event.StateDone:
		return given(doneLine(v), lead("output: ", clean(v.Output)))
	case event.StateFailed:
		line = failedLine(v)
	case event.StateCancelled:
		line = fmt.Sprintf("%s cancelled%s: %s; go on with: berth resume %s", v.ID, aside(clean(v.Reason)), doneOf(v), v.ID)
	case report.StateInterrupted:
		line = fmt.Sprintf("%s interrupted: no coordinator manages it; %s; go on with: berth resume %s", v.ID, doneOf(v), v.ID)
	default:
		line = joined("; ", wholeLine(v), queueLine(v), "follow it with: berth wait "+string(v.ID))
	}
	return given(line, lead("logs: ", clean(v.Logs)))
}

func doneOf(v report.JobView) string {
	return fmt.Sprintf("%s of %s done", job.FormatCount(v.TasksDone), job.Count(v.TasksTotal, "task"))
}

// doneLine is the closing line of a job that is done.
func doneLine(v report.JobView) string {
	var parts []string
	for _, p := range v.Phases {
		if of := job.PhaseNamed(p.Phase); of.Main() {
			parts = append(parts, job.Count(p.Total, of.Kind().String()))
		}
	}
	if v.Kind == job.MapReduce {
		parts = append(parts, size(v.BytesIn)+" in", size(v.BytesOut)+" out")
	}
	a := v.Attempts
	parts = append(parts, counted(a.Failed, "attempt", " failed and tried again"), counted(a.Outgrown, "attempt", " started again with more memory or time"),
		counted(a.Lost, "attempt", " lost"), counted(v.OutputsLost, "map output", " made again"))
	line := fmt.Sprintf("%s done in %s: %s", v.ID, seconds(v.ElapsedS), list(parts...))
	if p := v.Predicted; p != nil && v.ActualS != nil {
		line += "; run " + resumed(v) + beside(v.ActualS, "predicted "+span(p.LowSeconds, p.UpSeconds))
	}
	return line
}

// failedLine returns the closing line of a job that failed, with the next step.
func failedLine(v report.JobView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: ", v.ID)
	switch {
	case v.TasksFailed > 0:
		fmt.Fprintf(&b, "%s of %s failed", job.FormatCount(v.TasksFailed), job.Count(v.TasksTotal, "task"))
		if v.Kind == job.Bag {
			b.WriteString(lead(", then ", counted(v.TasksWaiting, "task", " not run")))
		}
	case v.Reason != "":
		b.WriteString(clean(v.Reason))
	default:
		b.WriteString(doneOf(v))
	}
	if f := lastFinal(v); f != nil {
		if v.Kind == job.MapReduce {
			fmt.Fprintf(&b, ", %s: %s", taskWithInput(f.Name, f.Input), cause(*f))
		}
		if f.Stderr != "" {
			b.WriteString(aside(lead("see ", clean(cmp.Or(f.File, f.Command)))))
		}
	}
	switch {
	case v.Fix != "":
		if more := partly(v); more != "" {
			b.WriteString("; " + more)
			break
		}
		fmt.Fprintf(&b, "; give them more with: %s", v.Fix)
	case v.NoFix != "":
		b.WriteString("; " + clean(v.NoFix))
	case v.TasksFailed > 0 && v.Kind == job.Bag:
		them := "them"
		if v.TasksFailed == 1 {
			them = "it"
		}
		if v.TasksWaiting > 0 {
			fmt.Fprintf(&b, "; go on with: berth resume %s, and with --failed to rerun %s, too", v.ID, them)
			break
		}
		fmt.Fprintf(&b, "; rerun %s with: berth resume %s --failed", them, v.ID)
	case v.TasksTotal > 0 && !strings.Contains(v.Reason, job.SubmitAgain):
		fmt.Fprintf(&b, "; after correcting that: berth resume %s", v.ID)
	}
	return b.String()
}

// partly tells how failed tasks can run again of which only some ran out of memory or time, or "" if all did.
func partly(v report.JobView) string {
	if v.FixTasks == 0 || v.FixTasks >= v.TasksFailed {
		return ""
	}
	return fmt.Sprintf("%d of them ran out of what they were given; run them again, and these with more: %s", v.FixTasks, v.Fix)
}

// lastFinal returns the last failure after which its task was not tried again, nil without one.
func lastFinal(v report.JobView) *report.Failure {
	for i := len(v.Failures) - 1; i >= 0; i-- {
		if v.Failures[i].Final {
			return &v.Failures[i]
		}
	}
	return nil
}
