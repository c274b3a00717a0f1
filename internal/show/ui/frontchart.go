package ui

import (
	"fmt"
	"html"
	"io"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// Size of the drawing in a terminal, in characters; in a narrow one it is as wide as that.
const (
	wide, high = 60, 14
	scaleWide  = 10
	leastChart = 20
)

// ranges returns the ends of costs and makespans of a front, whose cheapest point is the slowest.
func ranges(v front.View) (cheap, dear, fast, slow float64) {
	first, last := v.Front[0], v.Front[len(v.Front)-1]
	return first.Cost, last.Cost, last.Makespan, first.Makespan
}

// part returns the position of x between low (0) and up (1).
func part(x, low, up float64) float64 {
	if up <= low {
		return 0
	}
	return (x - low) / (up - low)
}

// frontChart draws a front in characters: cost to the right, makespan upwards. width is that of the terminal, 0 where there is none.
func frontChart(v front.View, width int) string {
	cheap, dear, fast, slow := ranges(v)
	wide := wide
	if width > 0 {
		wide = min(wide, max(leastChart, width-scaleWide-2))
	}
	var cells [high][]byte
	for y := range cells {
		cells[y] = make([]byte, wide)
	}
	for i, p := range v.Front {
		x, y := int(part(p.Cost, cheap, dear)*float64(wide-1)+0.5), int(part(p.Makespan, fast, slow)*(high-1)+0.5)
		c := &cells[high-1-y][x]
		switch m := frontMark(v, i); {
		case m != "":
			*c = m[len(m)-1]
		case *c == 0:
			*c = '*'
		}
	}
	var b strings.Builder
	scale := [high]string{0: length(slow), high - 1: length(fast)}
	for y, row := range cells {
		line := strings.TrimRight(strings.ReplaceAll(string(row), "\x00", " "), " ")
		fmt.Fprintf(&b, "%*s |%s\n", scaleWide, scale[y], line)
	}
	low, up := job.Money(cheap), job.Money(dear)
	fmt.Fprintf(&b, "%*s +%s\n", scaleWide, "", strings.Repeat("-", wide))
	fmt.Fprintf(&b, "%*s  %s%*s\n", scaleWide, "", low, wide-len(low), up)
	return b.String()
}

// Lengths in the SVG drawing, in pixels.
const (
	svgWide, svgHigh = 640, 400
	margin           = 60
)

// FrontSVG draws a front: cost to the right, makespan upwards, with the machines of each point as its title.
func FrontSVG(w io.Writer, v front.View) error {
	d := newSVG(svgWide, svgHigh, 12)
	d.printf(`<path d="M%d %dV%dH%d" fill="none" stroke="#444"/>`, margin, margin/2, svgHigh-margin, svgWide-margin/2)
	d.text(svgWide/2, svgHigh-margin/4, "middle", "cost")
	d.text(margin, margin/3, "middle", "makespan")
	if len(v.Front) > 0 {
		cheap, dear, fast, slow := ranges(v)
		d.text(margin, svgHigh-margin/2, "middle", job.Money(cheap))
		d.text(svgWide-margin, svgHigh-margin/2, "middle", job.Money(dear))
		d.text(margin-4, margin, "end", length(slow))
		d.text(margin-4, svgHigh-margin-4, "end", length(fast))
		for i, p := range v.Front {
			x, y := margin+part(p.Cost, cheap, dear)*(svgWide-2*margin), svgHigh-margin-part(p.Makespan, fast, slow)*(svgHigh-2*margin)
			radius, colour := 3, blue
			if frontMark(v, i) != "" {
				radius, colour = 6, vermilion
			}
			d.printf(`<circle cx="%.1f" cy="%.1f" r="%d" fill="%s"><title>%s</title></circle>`, x, y, radius, colour,
				html.EscapeString(fmt.Sprintf("%s, %s: %s", job.Money(p.Cost), length(p.Makespan), machines(p))))
		}
	}
	return d.write(w)
}
