package ui

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Lines writes lines of text.
func Lines(w io.Writer, lines []string) error {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(clean(l) + "\n")
	}
	return put(w, b.String())
}

// Status writes a table of jobs, the newest last, and the number of further ended jobs. Its JSON form is
// report.NewStatusList.
func Status(w io.Writer, views []report.JobView, more int) error {
	t := newTable("ID", "NAME", "KIND", "STATE", "DONE>", "FAILED>", "RUNNING>", "ELAPSED>", "ETA>", "SLACK>", "WAITS FOR")
	for _, v := range report.NewestLast(views) {
		rest := ""
		if v.EtaS != nil {
			rest = whole(*v.EtaS)
		}
		state := string(v.State)
		if v.Open {
			state += ", open"
		}
		t.add(string(v.ID), fit(clean(v.Name), 30), string(v.Kind), state, of(v.TasksDone, v.TasksTotal),
			figure(v.TasksFailed), figure(v.TasksRunning), seconds(v.ElapsedS), rest, slack(v), waitsCell(v))
	}
	t.narrow(widthOf(w), "KIND", "WAITS FOR", "ELAPSED>", "RUNNING>")
	t.shorten(widthOf(w), "NAME", leastName)
	text := t.String()
	switch {
	case len(views) == 0 && more == 0:
		text = "no jobs\n"
	case len(views) == 0:
		text = ""
	}
	return put(w, text+counted(more, "more job", " ended earlier: show them with berth status --all, or --limit N\n"))
}

// leastName is the number of columns to which the names of jobs are shortened at most; in less they are left out.
const leastName = 6

// Progress writes the progress of one job: its stages, its nodes, and the attempts that have run longest. width is
// the terminal's, 0 where there is none. Its JSON form is the view itself.
func Progress(w io.Writer, v report.JobView, width int) error {
	lines := append([]string{headline(v)}, frame(v, cmp.Or(width, widthOf(w), plainWidth), false)...)
	if v.TasksFailed > 0 || v.Attempts.Failed > 0 {
		lines = append(lines, failureCount(v))
	}
	b := sheet{width: widthOf(w)}
	b.WriteString(join(lines))
	allocsTable(&b, v)
	nodesTable(&b, v)
	runningTable(&b, v)
	return put(w, b.String())
}

// runningTable lists the running attempts with their progress.
func runningTable(b *sheet, v report.JobView) {
	t := newTable("TASK", "ATTEMPT>", "NODE", "HOST", "PHASE", "FOR>", "DONE>", "BY", "ETA>", "READ>", "STATUS")
	for _, r := range v.Running {
		part, rest := "", ""
		if p := cmp.Or(r.Progress, r.PhaseProgress); p != nil {
			part = strconv.Itoa(int(*p*100)) + "%"
		}
		if !r.EndExpected.IsZero() {
			rest = seconds(max(r.EndExpected.Sub(v.At), 0).Seconds())
		}
		attempt := strconv.Itoa(r.Attempt)
		if r.Duplicate {
			attempt += " (duplicate)"
		}
		t.add(r.Name, attempt, across(r.Node, r.Shares), across(r.Host, r.Shares), r.Phase, seconds(r.Seconds), part, r.Source, rest,
			some(r.BytesIn, size), fit(clean(r.Status), 40))
	}
	section(b, t, "READ>", "BY", "HOST", "ATTEMPT>", "STATUS", "PHASE")
}

func failureCount(v report.JobView) string {
	return fmt.Sprintf("%s failed in all attempts, %s failed; see berth report %s",
		job.Count(v.TasksFailed, "task"), job.Count(v.Attempts.Failed, "attempt"), v.ID)
}

func nodesTable(b *sheet, v report.JobView) {
	t := newTable("NODE", "HOST", "CPUS>", "GPUS", "DISK>", "NETWORK>", "STATE", "RUNNING>", "DONE>", "FAILED>")
	for _, n := range v.Nodes {
		t.add(n.Node, n.Host, figure(n.CPUs), strings.TrimSpace(figure(n.GPUs)+" "+n.GPUType), bytesRate(float64(n.Disk)), bytesRate(float64(n.Net)), n.State, figure(n.Running), figure(n.Done), figure(n.Failed))
	}
	section(b, t, "DISK>", "NETWORK>", "CPUS>", "HOST")
}
