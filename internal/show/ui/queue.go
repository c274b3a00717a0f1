package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// queueLine describes a job's allocations on a batch system and what it waits for: "2 of 8 nodes up in 2 allocations
// until 15:10; waits for 6 nodes more since 13:50 (Slurm: Resources; expected 14:05)". It is empty for jobs without
// allocations of a batch system.
func queueLine(v report.JobView) string {
	if v.State.Final() {
		return ""
	}
	has := hasText(v)
	return joined("; ", has, waitsText(v, has != ""))
}

// hasText describes how many nodes of the running allocations are up.
func hasText(v report.JobView) string {
	allocs, nodes, up := 0, 0, 0
	var ends time.Time
	for _, a := range v.Allocs {
		if a.State != report.AllocRunning {
			continue
		}
		allocs++
		nodes += a.Nodes
		up += a.Up
		if !a.Ends.IsZero() && (ends.IsZero() || a.Ends.Before(ends)) {
			ends = a.Ends
		}
	}
	if allocs == 0 {
		return ""
	}
	text := job.Count(nodes, "node") + " up"
	if up != nodes {
		text = fmt.Sprintf("%d of %s up", up, job.Count(nodes, "node"))
	}
	until := " until "
	if allocs > 1 {
		text += fmt.Sprintf(" in %d allocations", allocs)
		until = ", the first until "
	}
	return text + lead(until, clock(ends, v.At))
}

// waitsText describes what a job waits for in the queue, since when and until when.
func waitsText(v report.JobView, more bool) string {
	w := v.Waits
	if w == nil {
		return ""
	}
	text := "waits for " + job.Count(w.Nodes, "node")
	if more {
		text += " more"
	}
	return text + " since " + clock(w.Since, v.At) + aside(joined("; ", clean(w.Note), lead("expected ", clock(w.Start, v.At))))
}

// clock formats an instant near now in local time: the time alone on the same day, else with the weekday or, beyond a
// few days, the date. It returns an empty string for no instant.
func clock(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	t, now = t.Local(), now.Local()
	switch d := t.Sub(now).Abs(); {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04")
	case d < 6*24*time.Hour:
		return t.Format("Mon 15:04")
	case d < 300*24*time.Hour:
		return t.Format("2 Jan 15:04")
	default:
		return t.Format("2 Jan 2006")
	}
}

// waitsCell describes what a job waits for, in the table of jobs.
func waitsCell(v report.JobView) string {
	if len(v.After) > 0 && v.State == event.StateQueued {
		return explain.Few(v.After)
	}
	if v.Waits == nil {
		return ""
	}
	return job.Count(v.Waits.Nodes, "node") + lead(", expected ", clock(v.Waits.Start, v.At))
}

// allocsTable lists the job's allocations.
func allocsTable(b *sheet, v report.JobView) {
	t := newTable("ALLOCATION", "PARTITION", "STATE", "NODES>", "UP>", "TIME>", "REQUESTED", "BEGAN", "ENDS", "NOTE")
	for _, a := range v.Allocs {
		note, began, ends := a.Note, clock(a.Began, v.At), clock(a.Ends, v.At)
		switch {
		case a.State == report.AllocOver:
			note, ends = a.Reason, clock(a.Ended, v.At)
		case a.State == report.AllocWaiting && !a.Start.IsZero():
			began = "expected " + clock(a.Start, v.At)
		}
		limit := cmp.Or(some(a.TimeS, seconds), "no limit")
		t.add(a.Alloc, a.Partition, a.State, figure(a.Nodes), figure(a.Up), limit, clock(a.Requested, v.At), began, ends, note)
	}
	section(b, t, "PARTITION", "REQUESTED", "UP>", "NOTE", "ENDS")
}

// allocLines reports allocations that were requested, began or ended, and later plans.
func (n *news) allocLines(v report.JobView) []string {
	var lines []string
	first := n.allocs == nil
	if first {
		n.allocs = map[string]string{}
	}
	for _, a := range v.Allocs {
		was, note := n.allocs[a.Alloc], a.State
		if a.State == report.AllocRunning && a.Note != "" {
			note += ": " + a.Note // that it is suspended, or why none of its nodes starts
		}
		n.allocs[a.Alloc] = note
		if !first && !strings.HasPrefix(was, a.State) {
			lines = append(lines, allocNews(a, v.At))
		}
		if was != note && note != a.State {
			lines = append(lines, "allocation "+a.Alloc+": "+clean(a.Note))
		}
	}
	for _, p := range v.Plans {
		if p.At.After(n.planned) && !first {
			lines = append(lines, "planned again: "+clean(p.Decision))
		}
		if p.At.After(n.planned) {
			n.planned = p.At
		}
	}
	return lines
}

// allocNews reports that an allocation was requested, has begun or is over.
func allocNews(a report.AllocView, now time.Time) string {
	name := "allocation " + a.Alloc
	switch a.State {
	case report.AllocRunning:
		return fmt.Sprintf("%s of %s has begun after %s%s", name, job.Count(a.Nodes, "node"), seconds(a.Began.Sub(a.Requested).Seconds()),
			lead(", until ", clock(a.Ends, now)))
	case report.AllocOver:
		return name + " is over" + lead(": ", clean(a.Reason))
	default:
		return fmt.Sprintf("%s: %s requested, %s each", name, job.Count(a.Nodes, "node"), a.PerNode.Cores())
	}
}
