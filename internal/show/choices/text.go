// Package choices renders a front of machines to rent: as a table with a drawing for a terminal (Text), as a table of
// sampled types (SampledText), and as SVG. Like package ui it renders the value that it is given and decides nothing.
package choices

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// Text writes a front for people: a table, the cheapest point first, and a drawing of makespan over cost.
func Text(w io.Writer, v front.View) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tCOST\tMAKESPAN\t10–90 %\tSERVER\tMACHINES")
	rows := v.Shown()
	for _, i := range rows {
		p := v.Front[i]
		fmt.Fprintf(t, "%s\t%.2f\t%s\t%s–%s\t%.0f %%\t%s\n", mark(v, i), p.Cost, length(p.Makespan), length(p.Low), length(p.Up), 100*p.Use, machines(p))
	}
	_ = t.Flush() // into memory
	if hidden := len(v.Front) - len(rows); hidden > 0 {
		fmt.Fprintf(&b, "%s of %s points are shown; --json prints all.\n", job.FormatCount(len(rows)), job.FormatCount(len(v.Front)))
	}
	if len(v.Front) > 2 {
		b.WriteString("\n" + drawing(v))
		b.WriteString("\nT: from this point on more money buys little time.\n")
	}
	if v.Chosen != nil {
		b.WriteString(">: the choice within the budget and the deadline.\n")
	}
	if v.Epsilon > 0 {
		fmt.Fprintf(&b, "The front is approximate: for each possible choice it has a point that is at most %.3g %% worse in cost and in makespan (--epsilon).\n", 100*v.Epsilon)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mark returns the letters of a point.
func mark(v front.View, i int) string {
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
func machines(p front.PointView) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Machines)) {
		parts = append(parts, fmt.Sprintf("%s=%d", printable(name), p.Machines[name]))
	}
	return strings.Join(parts, " ")
}

// printable replaces control characters by "?".
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

func length(seconds float64) string {
	return job.FormatDuration(time.Duration(seconds * float64(time.Second)).Round(time.Second))
}
