package engine_test

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// reasoned appends a reason if there is one.
func reasoned(s, reason string) string {
	if reason != "" {
		s += ": " + reason
	}
	return s
}

func flagged(s string, set bool, flag string) string {
	if set {
		s += " " + flag
	}
	return s
}

// recordName returns the name of the record's type, "attempt-ended".
func recordName(r event.Record) string {
	var b strings.Builder
	for i, c := range strings.TrimPrefix(fmt.Sprintf("%T", r), "event.") {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// showRecord prints a record on one line, "attempt-ended bag-1/0#1 done".
func showRecord(r event.Record) string {
	kind := recordName(r) + " "
	switch r := r.(type) {
	case event.JobSubmitted:
		return kind + string(r.Work.ID)
	case event.JobResumed:
		return flagged(kind+string(r.Job), r.Failed, "failed")
	case event.TermsChanged:
		return kind + string(r.Job)
	case event.JobStopping:
		return reasoned(fmt.Sprintf("%s%s %s code %d", kind, r.Job, r.State, r.Code), r.Reason)
	case event.TasksAdded:
		s := fmt.Sprintf("%s%s %d", kind, r.Job, r.N)
		for _, n := range r.Further {
			s += " new " + n.Resources().Words()
		}
		for _, w := range r.Which {
			s += fmt.Sprintf(" %d*%d", w.Tasks, w.Index)
		}
		return s
	case event.NeedsChanged:
		what := "all"
		if r.Task >= 0 {
			what = fmt.Sprint("task ", r.Task)
		}
		s := fmt.Sprintf("%s%s %d, %s", kind, r.Job, r.Index, what)
		if r.Mem > 0 {
			s += " " + job.FormatSize(r.Mem)
		}
		if r.TimeLimit > 0 {
			s += " " + r.TimeLimit.String()
		}
		return reasoned(s, r.Reason)
	case event.BagClosed:
		return kind + string(r.Job)
	case event.TasksSkipped:
		return fmt.Sprintf("%s%s %v because of %d", kind, r.Job, r.Tasks, r.Because)
	case event.TasksCancelled:
		return reasoned(fmt.Sprintf("%s%s %v", kind, r.Job, r.Tasks), r.Reason)
	case event.FilesTaken:
		return fmt.Sprintf("%s%s by %s at %v %v", kind, r.Job, r.By, time.Duration(r.At), r.Files)
	case event.JobFollowed:
		return fmt.Sprintf("%s%s after %s", kind, r.Job, r.After)
	case event.JobFinalizing:
		return kind + string(r.Job)
	case event.JobEnded:
		return reasoned(fmt.Sprintf("%s%s %s code %d", kind, r.Job, r.State, r.Code), r.Reason)
	case event.AttemptStarted:
		return flagged(fmt.Sprintf("%s%v %s through %v", kind, r.Attempt, r.Node, r.Through), r.Commit, "commit") + ranks(r.Gang)
	case event.PhaseEntered:
		return fmt.Sprintf("%s%v %v", kind, r.Attempt, r.Phase)
	case event.PhaseGranted:
		return fmt.Sprintf("%s%v %v", kind, r.Attempt, r.Phase)
	case event.CommitGranted:
		return fmt.Sprintf("%s%v", kind, r.Attempt)
	case event.AttemptEnded:
		return reasoned(flagged(flagged(fmt.Sprintf("%s%v %v", kind, r.Attempt, r.Outcome), r.Cut, "cut"), r.Last, "last"), r.Reason)
	case event.OutputLost:
		return reasoned(flagged(fmt.Sprintf("%s%s/%d", kind, r.Job, r.Task), r.Bad, "bad"), r.Reason)
	case event.OutputHeld:
		return fmt.Sprintf("%s%v %s", kind, r.Attempt, r.Node)
	case event.NodeJoined:
		return kind + string(r.Node)
	case event.NodeLost:
		return reasoned(flagged(kind+string(r.Node), r.Gone, "gone"), r.Reason)
	}
	return showAlloc(kind, r)
}

// showAlloc prints a record of an allocation or a plan.
func showAlloc(kind string, r event.Record) string {
	switch r := r.(type) {
	case event.AllocRequested:
		if r.Job != "" {
			return fmt.Sprintf("%s%s for %s", kind, r.Alloc, r.Job)
		}
		return kind + string(r.Alloc)
	case event.AllocBegan:
		return fmt.Sprintf("%s%s ends %v", kind, r.Alloc, time.Duration(r.Ends))
	case event.AllocEnded:
		return reasoned(flagged(kind+string(r.Alloc), r.Unwanted, "unwanted"), r.Reason)
	case event.AllocCleared:
		return kind + string(r.Alloc)
	case event.AllocPaused:
		return flagged(kind+string(r.Alloc), !r.Paused, "over")
	case event.JobPlanned:
		return reasoned(fmt.Sprintf("%s%s scout %d times %v %v", kind, r.Job, r.Scout, r.TaskTime, r.ReduceTime), r.Decision)
	}
	return kind + "?"
}

// showAction prints an action on one line, "start bag-1/0#1 a1/0 through store".
func showAction(a step.Action) string {
	kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T ", a), "step."))
	switch a := a.(type) {
	case step.Start:
		s := flagged(fmt.Sprintf("%s%v %s through %v", kind, a.Attempt, a.Node, a.Through), a.Commit, "commit")
		if a.Mem > 0 {
			s += " memory " + job.FormatSize(a.Mem)
		}
		if a.TimeLimit > 0 {
			s += " limit " + a.TimeLimit.String()
		}
		if a.Behind.N > 0 {
			s += fmt.Sprintf(" behind %v", a.Behind)
		}
		s = flagged(s, a.Asks, "asks")
		if a.Unbegun > 0 {
			s += fmt.Sprintf(" unbegun %d", a.Unbegun)
		}
		for _, g := range a.Gang {
			s += fmt.Sprintf(" %d at %s %s", g.Ranks, g.Host, g.Addr) + shared(g.GPUs)
		}
		return s + shared(a.GPUs)
	case step.Join:
		return fmt.Sprintf("%s%v %s", kind, a.Attempt, a.Node)
	case step.Leave:
		return fmt.Sprintf("%s%v %s", kind, a.Attempt, a.Node)
	case step.Kill:
		return reasoned(flagged(fmt.Sprintf("%s%v %s", kind, a.Attempt, a.Node), a.Keep, "keep"), a.Reason)
	case step.Grant:
		return fmt.Sprintf("%s%v %s %v", kind, a.Attempt, a.Node, a.Phase)
	case step.Commit:
		s := fmt.Sprintf("%s%v %s", kind, a.Attempt, a.Node)
		if len(a.Except) > 0 {
			s += fmt.Sprintf(" except %v", a.Except)
		}
		return s
	case step.Ask:
		return fmt.Sprintf("%s%v %s", kind, a.Attempt, a.Node)
	case step.Locate:
		s := fmt.Sprintf("%s%v for %s at %s %s", kind, a.Attempt, a.Node, a.Holder, a.Addr)
		return flagged(s, a.Outputs != "", "in "+a.Outputs)
	case step.Ends:
		return fmt.Sprintf("%s%s %v", kind, a.Node, time.Duration(a.At))
	case step.Forget:
		return fmt.Sprintf("%s%s %s", kind, a.Job, a.Node)
	case step.Request:
		s := fmt.Sprintf("%s%s %s %d x {%d %d}", kind, a.Alloc, a.Request.On, a.Request.Nodes, a.Request.PerNode.CPUs, a.Request.PerNode.Mem)
		s = flagged(s, len(a.Request.Avoid) > 0, fmt.Sprintf("not on %v", a.Request.Avoid))
		return flagged(s, a.Request.Elastic, fmt.Sprintf("for %v", a.Request.Time))
	case step.Release:
		return reasoned(kind+string(a.Alloc), a.Reason)
	case step.Plan:
		s := fmt.Sprintf("%s%s: %s; left %d and %d, cut short %v, live", kind, a.Job, a.Reason, a.Remaining.Tasks, a.Remaining.Reduces, a.Remaining.CutShort)
		if a.Remaining.StartUp != 0 {
			s = strings.TrimSuffix(s, ", live") + fmt.Sprintf(", span %v, start-up %v, live", a.Remaining.Span, a.Remaining.StartUp)
		}
		if a.Remaining.Anew {
			s = strings.Replace(s, ", live", ", anew, live", 1)
		}
		for _, n := range a.Remaining.Needs {
			if strings.HasPrefix(a.Reason, "an allocation has too little time left") {
				s = strings.TrimSuffix(s, ", live") + fmt.Sprintf(", ages %v, live", n.Ages)
			}
		}
		if a.Remaining.Kept != 0 {
			s = strings.TrimSuffix(s, ", live") + fmt.Sprintf(", kept %v, live", a.Remaining.Kept)
		}
		if needs := a.Remaining.Needs; len(needs) > 1 && a.Remaining.Reduces == 0 {
			s = strings.TrimSuffix(s, ", live")
			for _, n := range needs {
				s += fmt.Sprintf("; %d wait and %d run of %s", n.Waiting, n.Running, n.Needs.Resources().Words())
			}
			s += ", live"
		}
		for _, l := range a.Remaining.Live {
			s += fmt.Sprintf(" %s[began %v ends %v start %v]", l.ID, time.Duration(l.Began), time.Duration(l.Ends), time.Duration(l.Start))
		}
		return s
	case step.Clear:
		return kind + string(a.Alloc)
	case step.Seek:
		return kind + string(a.Job)
	case step.Finalize:
		return kind + string(a.Job)
	}
	return kind + "?"
}

// shared prints the numbers of shared GPUs, " GPUs [0 0 1]".
func shared(numbers []uint16) string {
	if numbers == nil {
		return ""
	}
	return fmt.Sprint(" GPUs ", numbers)
}

// ranks prints the shares of a gang, " 2 on a1/0 1 on a1/1".
func ranks(gang []event.Share) (s string) {
	for _, g := range gang {
		s += fmt.Sprintf(" %d on %s", g.Ranks, g.Node)
	}
	return s
}
