package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Explanation is the JSON form of berth explain.
type Explanation struct {
	Lines []string `json:"lines"`
}

// Explain writes the lines that explain the state of a job.
func Explain(w io.Writer, lines []string) error {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(clean(l) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Ending returns lines that say how a job ended and what the user can do.
func Ending(v report.JobView) []string {
	var lines []string
	switch v.State {
	case string(event.StateDone):
		return []string{fmt.Sprintf("it is done: %d of %s", v.TasksDone, count(v.TasksTotal, "task"))}
	case string(event.StateCancelled):
		lines = append(lines, "it was cancelled: "+v.Reason)
	default:
		lines = append(lines, "it failed: "+v.Reason)
	}
	if n := v.TasksTotal - v.TasksDone - v.TasksFailed; n > 0 {
		lines = append(lines, fmt.Sprintf("%s can go on: berth resume %s", count(n, "task"), v.ID))
	}
	if n := v.TasksFailed; n > 0 && v.Kind == job.Bag {
		lines = append(lines, fmt.Sprintf("%s that failed can run again: berth resume --failed %s", count(n, "task"), v.ID))
	}
	return lines
}

// Reasons returns the engine's reasons for the state of a job in words, a line for each.
func Reasons(reasons []explain.Reason) []string {
	lines := make([]string, len(reasons))
	for i, r := range reasons {
		lines[i] = reason(r)
	}
	return lines
}

// reason returns one reason in words.
func reason(r explain.Reason) string {
	switch r.Kind {
	case explain.Finalizing:
		return "all tasks are done; the output is being moved to its final folder"
	case explain.Stopping:
		return "it is being stopped: " + r.Text
	case explain.TasksRun:
		return fmt.Sprintf("%d of %s: %s", r.Count, count(r.Of, "task")+verb(r.Count, " run"), few(r.Nodes, func(n explain.Node) string {
			return fmt.Sprintf("%d on %s", n.Count, n.ID)
		}))
	case explain.AllocWaits, explain.NoNodeYet, explain.AllocEnds:
		return allocReason(r)
	case explain.PlanPending, explain.PlanFailed, explain.PlanLater, explain.PlanNever:
		return planReason(r)
	case explain.NodeAway, explain.NodeSuspected, explain.NodeSlow, explain.SortWaits:
		return nodeReason(r)
	case explain.PhaseWaits:
		return phaseReason(r)
	case explain.SlowTask:
		return lateReason(r)
	case explain.AfterJobs, explain.EarlierJobs, explain.ShorterJobs, explain.AgedJobs, explain.FairerJobs:
		return jobsReason(r)
	default:
		return taskReason(r)
	}
}

// allocReason describes an allocation that the job uses or waits for.
func allocReason(r explain.Reason) string {
	switch {
	case r.Kind == explain.AllocEnds && len(r.Jobs) > 0:
		return fmt.Sprintf("allocation %s ends in %s; it may be given back once %s, which requested it, is done", r.Alloc, wholeSeconds(r.Left), r.Jobs[0])
	case r.Kind == explain.AllocEnds:
		return fmt.Sprintf("allocation %s ends in %s", r.Alloc, wholeSeconds(r.Left))
	case r.Kind == explain.NoNodeYet:
		return fmt.Sprintf("allocation %s began %s ago; none of its nodes is ready yet", r.Alloc, wholeSeconds(r.Since))
	}
	s := fmt.Sprintf("it waits for allocation %s: %s with %s each", r.Alloc, count(r.Request.Nodes, "node"), resources(r.Request.PerNode))
	if r.Request.Time > 0 {
		s += " for " + job.FormatDuration(r.Request.Time)
	}
	s += fmt.Sprintf(", requested from %s %s ago", r.Request.On, wholeSeconds(r.Since))
	if r.Text != "" {
		s += "; " + r.Text
	}
	if r.Left > 0 {
		s += "; expected in " + wholeSeconds(r.Left)
	}
	return s
}

// planReason describes the state of the plan for tasks that no allocation serves.
func planReason(r explain.Reason) string {
	idle := fmt.Sprintf("the last %d allocations ended without any task done (%s)", r.Count, r.Text)
	switch r.Kind {
	case explain.PlanPending:
		return "the remaining tasks are being planned: " + r.Text
	case explain.PlanFailed:
		return fmt.Sprintf("the remaining tasks could not be planned; the next try is in %s: %s", wholeSeconds(r.Left), r.Text)
	case explain.PlanLater:
		return fmt.Sprintf("the remaining tasks are planned in %s: %s", wholeSeconds(r.Left), idle)
	default:
		return "no further allocation is requested until a running task is done: " + idle
	}
}

// nodeReason describes why a job waits for one node.
func nodeReason(r explain.Reason) string {
	n := r.Nodes[0]
	switch r.Kind {
	case explain.NodeAway:
		return fmt.Sprintf("%s has not answered for %s (%s); berth waits %v more for its %s and %s of this job",
			n.ID, r.Since.Round(time.Second), r.Text, r.Left.Round(time.Second), count(r.Count, "attempt"), count(r.Of, "map output"))
	case explain.NodeSuspected:
		return fmt.Sprintf("%s gets no attempts for %v more: attempts failed or were lost there and not on other nodes", n.ID, r.Left.Round(time.Second))
	case explain.NodeSlow:
		return fmt.Sprintf("no duplicate starts on %s for %v more, because attempts there were too slow", n.ID, r.Left.Round(time.Second))
	default:
		return fmt.Sprintf("%s on %s for %s to sort and reduce; it has %s free", count(r.Count, "reduce")+verb(r.Count, " wait"),
			n.ID, resources(r.Need), resources(n.Free))
	}
}

// jobsReason names the jobs that go before this one.
func jobsReason(r explain.Reason) string {
	jobs := few(r.Jobs, func(id job.ID) string { return string(id) })
	goes := "go"
	if len(r.Jobs) == 1 {
		goes = "goes"
	}
	switch r.Kind {
	case explain.AfterJobs:
		return "it begins when " + verbAfter(r.Jobs, jobs)
	case explain.ShorterJobs:
		return fmt.Sprintf("%s with less left to do %s first: %s", count(len(r.Jobs), "job"), goes, jobs)
	case explain.AgedJobs:
		return fmt.Sprintf("%s with more waiting time %s first: %s", count(len(r.Jobs), "job"), goes, jobs)
	case explain.FairerJobs:
		return fmt.Sprintf("%s with less of a fair share %s first: %s", count(len(r.Jobs), "job"), goes, jobs)
	default:
		return "before it in line: " + jobs
	}
}

// verbAfter returns the jobs' names with "is done" or "are done".
func verbAfter(jobs []job.ID, names string) string {
	if len(jobs) == 1 {
		return names + " is done"
	}
	return names + " are done"
}

// taskReason describes what ready tasks wait for.
func taskReason(r explain.Reason) string {
	wait := count(r.Count, r.Task.String()) + verb(r.Count, " wait")
	switch r.Kind {
	case explain.Throttled:
		return fmt.Sprintf("%s: at most %d may run at once", wait, r.Of)
	case explain.SlowStart:
		return fmt.Sprintf("%s until %d of %d maps are done; %d are", wait, r.Of, r.Total, r.Done)
	case explain.UrgentWaits:
		return wait + " for a slot on another node, because an attempt was too slow"
	case explain.OutputsSought:
		return fmt.Sprintf("it searches the nodes that join for %s from before the resume", count(r.Count, "map output"))
	}
	return wait + " for " + roomReason(r)
}

// roomReason describes what tasks need of a node, and what each node has free.
func roomReason(r explain.Reason) string {
	want, kept := resources(r.Need)+" each", ""
	if r.Task == job.ReduceTask {
		want = size(r.Need.Mem) + " each to shuffle in"
	}
	if slices.ContainsFunc(r.Nodes, func(n explain.Node) bool { return len(n.Shortages) > 0 }) {
		want = "room"
	}
	if r.Kept > 0 {
		whose := "maps"
		if r.KeptForJobs {
			whose = "jobs that go first"
		}
		kept = fmt.Sprintf("; %s on each node is reserved for %s", size(r.Kept), whose)
	}
	return want + ": " + few(r.Nodes, func(n explain.Node) string {
		switch {
		case n.Returned:
			return fmt.Sprintf("%s is being given back: the job that requested it is done", n.ID)
		case n.EndsIn > 0:
			return fmt.Sprintf("%s has %s left, which is too short for one", n.ID, wholeSeconds(n.EndsIn))
		case r.Task == job.ReduceTask:
			return fmt.Sprintf("%s has %s free and %d of at most %d shuffling", n.ID, size(n.Free.Mem), n.Shuffling, n.Cores)
		case len(n.Shortages) > 0:
			return fmt.Sprintf("on %s %s", n.ID, lacksText(n.Shortages))
		default:
			return fmt.Sprintf("%s has %s free", n.ID, resources(n.Free))
		}
	}) + kept
}

// resources returns cores and memory in words.
func resources(r job.Resources) string {
	s := count(r.CPUs, "core")
	if r.Mem == 0 {
		return s
	}
	return s + " and " + size(r.Mem)
}

// wholeSeconds writes a duration in whole seconds.
func wholeSeconds(d time.Duration) string { return job.FormatDuration(d.Round(time.Second)) }

// verb returns a verb in the form for n subjects.
func verb(n int, v string) string {
	if n == 1 {
		return v + "s"
	}
	return v
}

// few joins a list and shortens a long one.
func few[T any](l []T, word func(T) string) string {
	const most = 4
	var words []string
	for _, v := range l[:min(most, len(l))] {
		words = append(words, word(v))
	}
	s := strings.Join(words, ", ")
	if n := len(l) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
