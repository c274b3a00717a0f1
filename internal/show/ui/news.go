package ui

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// maxTold is the largest number of failures of one view that are shown in full, because a job whose tasks all fail
// would flood the screen.
const maxTold = 5

// maxInAll is the number of failures told in full of one job, behind which they are only counted: a program that fails at once in
// each of thousands of tasks would write thousands of lines.
const maxInAll = 20

// news finds what is new in a view.
type news struct {
	failure uint64 // sequence number of the last reported failure
	total   int    // failures reported or only counted
	full    int    // failures told in full; after maxInAll of them the user knows that no further ones are told
	nodes   map[string]report.NodeView
	allocs  map[string]string // state by id
	planned time.Time         // of the last reported plan
	grown   int               // attempts that had run out of memory or time when that was reported last
	left    int               // tasks that had left processes when that was reported last
	warned  int               // warnings when they were reported last
	shown   shownErrors
	notes   []string // that the user knows
}

// knowing returns the state of a user who has seen the view v.
func knowing(v report.JobView) news {
	n := news{nodes: map[string]report.NodeView{}, total: v.FailuresTotal, grown: v.Attempts.Outgrown, left: v.LeftTotal, warned: v.WarningsTotal, notes: v.Notes}
	for _, f := range v.Failures {
		n.failure = max(n.failure, f.Seq)
	}
	return n
}

// failures returns the new failures to show in full, and the number of others.
func (n *news) failures(v report.JobView) (tell []report.Failure, others int) {
	for _, f := range v.Failures {
		if f.Seq == 0 || f.Seq > n.failure {
			n.failure = max(n.failure, f.Seq)
			n.total++
			tell = append(tell, f)
		}
	}
	others = max(v.FailuresTotal-n.total, 0)
	n.total += others
	if n.full == maxInAll {
		return nil, 0
	}
	if cut := len(tell) - min(maxTold, maxInAll-n.full); cut > 0 {
		tell, others = tell[cut:], others+cut
	}
	return tell, others
}

// noteLines reports notes that came while the job ran.
func (n *news) noteLines(v report.JobView) (lines []string) {
	for _, note := range v.Notes {
		if !slices.Contains(n.notes, note) {
			lines = append(lines, "note: "+clean(note))
		}
	}
	n.notes = v.Notes
	return lines
}

// doubled reports whether a number is at least twice what was told of it, and notes that it is told now.
func doubled(told *int, now int) bool {
	if now < max(1, 2**told) {
		return false
	}
	*told = now
	return true
}

// taskLines reports that tasks were given more memory or time, that processes were ended after their programs, and what else is to be
// known of them, each of it when there is twice as much.
func (n *news) taskLines(v report.JobView) (lines []string) {
	if v.Memory != nil && v.Memory.Last != "" && doubled(&n.grown, v.Attempts.Outgrown) {
		lines = append(lines, clean(v.Memory.Last))
	}
	if doubled(&n.left, v.LeftTotal) {
		lines = append(lines, leftText(v))
	}
	if doubled(&n.warned, v.WarningsTotal) {
		lines = append(lines, warningsText(v))
	}
	return lines
}

// nodeLines reports nodes with work of the job that were lost, and nodes that are back. The end of a whole allocation
// is reported once, not for each node.
func (n *news) nodeLines(v report.JobView) []string {
	var lines []string
	over := map[string]bool{} // allocations
	for _, a := range v.Allocs {
		over[a.Alloc] = a.State == report.AllocOver
	}
	for _, now := range v.Nodes {
		was, known := n.nodes[now.Node]
		if !known || was.State == now.State || over[string(job.NodeID(now.Node).Alloc())] {
			continue
		}
		name := now.Node
		if now.Host != "" {
			name = clean(now.Host) + " (" + now.Node + ")"
		}
		switch {
		case now.State == report.NodeUp:
			lines = append(lines, "node "+name+" is back")
		case was.State == report.NodeUp && was.Running > 0:
			lines = append(lines, fmt.Sprintf("node %s is %s%s; it ran %s", name, now.State, lead(": ", clean(now.Reason)), job.Count(was.Running, "task")))
		}
	}
	for _, now := range v.Nodes {
		n.nodes[now.Node] = now
	}
	return lines
}

// lines returns everything that is new in a view.
func (n *news) lines(v report.JobView, c color) []string {
	lines := slices.Concat(n.allocLines(v), n.nodeLines(v), n.taskLines(v), n.noteLines(v))
	tell, others := n.failures(v)
	if others > 0 {
		lines = append(lines, c.red("and "+job.Count(others, "other failure")+"; see berth report "+string(v.ID)))
	}
	for _, f := range tell {
		lines = append(lines, n.failureLines(f, c)...)
	}
	return lines
}

// failureLines tells a failure in full, and behind the last one of a job for which there is room that the others are only counted.
func (n *news) failureLines(f report.Failure, c color) []string {
	lines := n.shown.lines(f)
	lines[0] = c.red(lines[0])
	if n.full++; n.full == maxInAll {
		lines = append(lines, c.red("further failures are only counted; see berth report"))
	}
	return lines
}
