package ui

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// Front writes a front for people: a table, the cheapest point first, and a drawing of makespan over cost.
func Front(w io.Writer, v front.View) error {
	var b strings.Builder
	t := newTable("", "COST", "MAKESPAN", "10–90 %", "SIMPLE", "SERVER", "MACHINES")
	rows := v.Shown()
	for _, i := range rows {
		p := v.Front[i]
		t.add(frontMark(v, i), job.Money(p.Cost), length(p.Makespan), length(p.Low)+"–"+length(p.Up), length(p.Simple), percent(p.Use), machines(p))
	}
	t.narrow(widthOf(w), "SIMPLE", "SERVER", "10–90 %")
	b.WriteString(t.String())
	if hidden := len(v.Front) - len(rows); hidden > 0 {
		fmt.Fprintf(&b, "%s of %s points are shown; --json prints all.\n", job.FormatCount(len(rows)), job.FormatCount(len(v.Front)))
	}
	if len(v.Front) > 2 {
		b.WriteString("\n" + frontChart(v, widthOf(w)))
		b.WriteString("\nT: from this point on more money buys little time.\n")
	}
	if v.Chosen != nil {
		b.WriteString(">: the choice within the budget and the deadline.\n")
	}
	if v.Epsilon > 0 {
		fmt.Fprintf(&b, "The front is approximate: for each possible choice it has a point that is at most %.3g %% worse in cost and in makespan (--epsilon).\n", 100*v.Epsilon)
	}
	return put(w, b.String())
}

// frontMark returns the letters of a point.
func frontMark(v front.View, i int) string {
	text := ""
	if v.Chosen != nil && *v.Chosen == i {
		text = ">"
	}
	if v.Tipping == i && len(v.Front) > 2 {
		text += "T"
	}
	return text
}

// machines formats a configuration: "m1.m=30 c1.m=2".
func machines(p front.Point) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Machines)) {
		parts = append(parts, fmt.Sprintf("%s=%d", clean(name), p.Machines[name]))
	}
	return strings.Join(parts, " ")
}

// length formats seconds without a fraction.
func length(seconds float64) string {
	return job.FormatDuration(job.Seconds(seconds).Round(time.Second))
}
