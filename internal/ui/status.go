package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth/internal/job"
	"berth/internal/report"
)

// Status writes a table of jobs, newest last, and how many more that are over there are. Its
// JSON twin is report.NewStatusList.
func Status(w io.Writer, views []report.JobView, more int) error {
	if err := statusTable(w, views, more); err != nil || more == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "%s that ended before: berth status --all, or --limit N\n", count(more, "more job"))
	return err
}

func statusTable(w io.Writer, views []report.JobView, more int) error {
	if len(views) == 0 && more > 0 {
		return nil
	}
	if len(views) == 0 {
		_, err := io.WriteString(w, "no jobs\n")
		return err
	}
	t := newTable("ID", "NAME", "KIND", "STATE", "DONE>", "FAILED>", "RUNNING>", "ELAPSED>", "ETA>", "WAITS FOR")
	for _, v := range report.NewestLast(views) {
		rest := ""
		if v.EtaS != nil {
			rest = strings.TrimPrefix(eta(*v.EtaS), "ETA ")
		}
		t.add(string(v.ID), fit(clean(v.Name), 30), string(v.Kind), v.State,
			of(v.TasksDone, v.TasksTotal), some(v.TasksFailed), some(v.TasksRunning), seconds(v.ElapsedS), rest, waitsCell(v))
	}
	return t.write(w)
}

// some writes a number, nothing for 0.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return job.FormatCount(n)
}

// someSize writes bytes, nothing for 0.
func someSize(n int64) string {
	if n == 0 {
		return ""
	}
	return size(n)
}

// Progress writes how far one job is: its stages, the nodes it runs on, and the
// attempts that have run longest. width is the terminal's, 0 where there is none.
// Its JSON twin is the view itself.
func Progress(w io.Writer, v report.JobView, width int) error {
	if width <= 0 {
		width = 80
	}
	lines := append([]string{headline(v)}, frame(v, width, false)...)
	if v.TasksFailed > 0 || v.Attempts.Failed > 0 {
		lines = append(lines, failureCount(v))
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	if err := allocsSection(w, v); err != nil {
		return err
	}
	if err := nodesTable(w, v); err != nil {
		return err
	}
	if len(v.Running) == 0 {
		return nil
	}
	t := newTable("TASK", "ATTEMPT>", "NODE", "HOST", "PHASE", "FOR>", "DONE>", "READ>", "STATUS")
	for _, r := range v.Running {
		part := ""
		if r.Progress != nil {
			part = strconv.Itoa(int(*r.Progress*100)) + "%"
		}
		t.add(clean(r.Name), strconv.Itoa(r.Attempt), r.Node, clean(r.Host), r.Phase, seconds(r.Seconds), part,
			someSize(r.BytesIn), fit(clean(r.Status), 40))
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.write(w)
}

func failureCount(v report.JobView) string {
	return fmt.Sprintf("%s failed for good, %s failed; see berth report %s",
		count(v.TasksFailed, "task"), count(v.Attempts.Failed, "attempt"), v.ID)
}

// allocsSection writes the table of allocations behind an empty line, nothing without any.
func allocsSection(w io.Writer, v report.JobView) error {
	if len(v.Allocs) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return allocsTable(v).write(w)
}

func nodesTable(w io.Writer, v report.JobView) error {
	if len(v.Nodes) == 0 {
		return nil
	}
	t := newTable("NODE", "HOST", "CPUS>", "STATE", "RUNNING>", "DONE>", "FAILED>")
	for _, n := range v.Nodes {
		t.add(n.Node, clean(n.Host), some(n.CPUs), n.State, some(n.Running), some(n.Done), some(n.Failed))
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.write(w)
}
