package ui

import (
	"fmt"
	"io"
	"math"
	"strings"

	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Lengths in the drawing of usage, in pixels.
const (
	panelWide, panelHigh = 220, 60
	panelGap             = 20
	labelWide            = 150
	headHigh             = 44
)

// panelNames and panelColors are those of the resources, in the order of job.AllResources.
var (
	panelNames  = [...]string{"cores", "memory", "disk", "network"}
	panelColors = [...]string{blue, green, vermilion, purple}
)

// UsageSVG draws the use of node resources by jobs over time: a row of panels for each node, one panel for each
// resource.
func UsageSVG(w io.Writer, v report.UsageView) error {
	nodes := together(v)
	wide := labelWide + len(panelNames)*(panelWide+panelGap)
	high := headHigh + len(nodes)*(panelHigh+panelGap) + panelGap
	d := newSVG(wide, high, 11)
	d.text(8, 16, "start", explain.Few(v.Jobs))
	for _, r := range job.AllResources() {
		d.text(panelLeft(r), headHigh-8, "start", panelNames[r])
	}
	for i := range nodes {
		svgNode(d, &nodes[i], headHigh+i*(panelHigh+panelGap))
	}
	if len(nodes) > 0 {
		end := seconds(math.Ceil(10*v.StepS*float64(len(nodes[0].CPU.Used))) / 10)
		for _, r := range job.AllResources() {
			d.text(panelLeft(r), high-panelGap, "start", "0")
			d.text(panelLeft(r)+panelWide, high-panelGap, "end", end)
		}
	}
	return d.write(w)
}

func panelLeft(r job.Resource) int { return labelWide + int(r)*(panelWide+panelGap) }

// svgNode draws the panels of one node, their upper edge at top.
func svgNode(d *svg, n *report.NodeUsageView, top int) {
	for i, name := range given(n.Node, n.Host) {
		d.text(8, top+panelHigh/2+14*i, "start", fit(name, 24))
	}
	for _, r := range job.AllResources() {
		v, left := n.Of(r), panelLeft(r)
		full := full(v)
		d.printf(`<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f4f4"/>`, left, top, panelWide, panelHigh)
		if full > 0 {
			d.printf(`<path d="%s" fill="%s"/>`, svgCurve(v.Used, full, left, top), panelColors[r])
		}
		d.text(left+panelWide, top-3, "end", inPart(v, used(r, full)))
	}
}

// svgCurve returns the path around the area under a curve; the height of the panel stands for full.
func svgCurve(curve []float64, full float64, left, top int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", left, top+panelHigh)
	step := float64(panelWide) / float64(len(curve))
	for i, used := range curve {
		y := float64(top) + panelHigh*(1-min(used/full, 1))
		fmt.Fprintf(&b, "V%.1fH%.1f", y, float64(left)+step*float64(i+1))
	}
	fmt.Fprintf(&b, "V%dZ", top+panelHigh)
	return b.String()
}
