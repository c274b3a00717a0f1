package ui

import (
	"fmt"
	"html"
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

// panelNames and panelColors are of the resources, in the order of job.AllResources. The colours are those of Okabe and Ito
// ("Color Universal Design", 2008), which people who see few colours tell apart.
var (
	// panelNames and panelColors are those of the resources, in the order of job.AllResources. The colours are those
	// of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people can distinguish.
	panelNames  = [...]string{"cores", "memory", "disk", "network"}
	panelColors = [...]string{"#0072B2", "#009E73", "#D55E00", "#CC79A7"}
)

// UsageSVG draws the use of node resources by jobs over time: a row of panels for each node, one panel for each
// resource.
func UsageSVG(w io.Writer, v report.UsageView) error {
	nodes := together(v)
	wide := labelWide + len(panelNames)*(panelWide+panelGap)
	high := headHigh + len(nodes)*(panelHigh+panelGap) + panelGap
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11">`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", wide, high)
	b.WriteString(svgText(8, 16, "start", explain.Few(v.Jobs)))
	for _, r := range job.AllResources() {
		b.WriteString(svgText(panelLeft(r), headHigh-8, "start", panelNames[r]))
	}
	for i := range nodes {
		svgNode(&b, &nodes[i], headHigh+i*(panelHigh+panelGap))
	}
	if len(nodes) > 0 {
		end := seconds(math.Ceil(10*v.StepS*float64(len(nodes[0].CPU.Used))) / 10)
		for _, r := range job.AllResources() {
			b.WriteString(svgText(panelLeft(r), high-panelGap, "start", "0"))
			b.WriteString(svgText(panelLeft(r)+panelWide, high-panelGap, "end", end))
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func panelLeft(r job.Resource) int { return labelWide + int(r)*(panelWide+panelGap) }

func svgText(x, y int, anchor, text string) string {
	return fmt.Sprintf(`<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(clean(text)))
}

// svgNode draws the panels of one node, their upper edge at top.
func svgNode(b *strings.Builder, n *report.NodeUsageView, top int) {
	b.WriteString(svgText(8, top+panelHigh/2, "start", fit(n.Node, 24)))
	if n.Host != "" {
		b.WriteString(svgText(8, top+panelHigh/2+14, "start", fit(n.Host, 24)))
	}
	for _, r := range job.AllResources() {
		v, left := n.Of(r), panelLeft(r)
		full := v.Capacity
		if full <= 0 {
			full = v.Max
		}
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f4f4"/>`+"\n", left, top, panelWide, panelHigh)
		if full > 0 {
			fmt.Fprintf(b, `<path d="%s" fill="%s"/>`+"\n", svgCurve(v.Used, full, left, top), panelColors[r])
		}
		label := used(r, full)
		switch {
		case v.Unknown && v.Max == 0:
			label = "not measured"
		case v.Unknown:
			label += ", measured in part"
		}
		b.WriteString(svgText(left+panelWide, top-3, "end", label))
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
