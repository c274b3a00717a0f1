package rented

import (
	"fmt"
	"math"
	"strings"
)

// Markdown returns the figures as tables.
func (r *Report) Markdown() string {
	var b strings.Builder
	for i := range r.Results {
		r.Results[i].write(&b)
	}
	return b.String()
}

func (r *Result) write(b *strings.Builder) {
	s := r.Setting
	fmt.Fprintf(b, "**%s**; server %.0f MB/s, links %.0f and %.0f MB/s, a task computes %.0f s (ImageMagick) and %.0f s (OpenJpeg) on one ECU\n\n", s.Name,
		s.Server/1e6, s.Link/2e6, s.Link/1e6, s.Tasks.ImageMagick, s.Tasks.OpenJpeg)
	b.WriteString("| figure | application | schedule | cost, $ | server used | executed, s | MVA, s | berth, s | simple, s | MVA off | berth off | simple off |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, a := range r.Apps {
		rows(b, "3", a.Name, a.Large)
	}
	for _, a := range r.Apps {
		rows(b, "5", a.Name, a.Schedules)
	}
	for _, a := range r.Apps {
		front := "is that of the enumeration"
		if !a.Equal {
			front = "is not that of the enumeration"
		}
		var saturated []string
		for _, row := range a.Large {
			if row.MVA > saturates*row.Simple {
				saturated = append(saturated, row.Machines)
			}
		}
		if len(saturated) == 0 {
			saturated = []string{"none"}
		}
		fmt.Fprintf(b, "\nFigure 4, %s: the front of %d choices has %d points and %s; it tips at $%.2f by the hour, $%.2f by the second. Figure 3: the server saturates with %s.\n",
			a.Name, a.Choices, a.Points, front, a.Tipping, a.BySecond, strings.Join(saturated, "; "))
	}
	b.WriteString("\n")
}

// rows writes the schedules of a figure.
func rows(b *strings.Builder, figure, app string, all []Row) {
	for _, r := range all {
		off := func(x float64) float64 { return math.Round(1000*(x/r.Executed-1)) / 10 }
		fmt.Fprintf(b, "| %s | %s | %s | %.2f | %.0f %% | %.0f | %.0f | %.0f | %.0f | %+.1f %% | %+.1f %% | %+.1f %% |\n", figure, app, r.Machines, r.Cost, 100*r.Use, r.Executed,
			r.MVA, r.Berth, r.Simple, off(r.MVA), off(r.Berth), off(r.Simple))
	}
}
