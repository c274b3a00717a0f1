package ui

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// usageNodes is the largest number of nodes in the chart of usage.
const usageNodes = 20

// Usage writes the use of node resources by jobs over time: a curve for each resource of each node, and first one for
// all nodes together. Its JSON form is the view itself.
func Usage(w io.Writer, v report.UsageView, style Style) error {
	var b strings.Builder
	ids := explain.Few(v.Jobs)
	if v.Start.IsZero() {
		b.WriteString(ids + ": no phase is over yet\n")
	} else {
		fmt.Fprintf(&b, "%s on %s from %s\n", ids, job.Count(len(v.Nodes), "node"), instant(v.Start))
	}
	all := together(v)
	for i := range all[:min(len(all), usageNodes)] {
		usageNode(&b, &all[i], v.StepS, style)
	}
	if n := len(all) - usageNodes; n > 0 {
		fmt.Fprintf(&b, "\nand %s: use --svg or --json\n", job.Count(n, "further node"))
	}
	return put(w, b.String())
}

// together returns the nodes, and before several nodes their sum.
func together(v report.UsageView) []report.NodeUsageView {
	if len(v.Nodes) < 2 {
		return v.Nodes
	}
	return append([]report.NodeUsageView{UsageSum(v, "all nodes")}, v.Nodes...)
}

// UsageSum returns the use of all nodes together under a name. Its capacity is known if that of each node is.
func UsageSum(v report.UsageView, name string) report.NodeUsageView {
	sum := report.NodeUsageView{Node: name}
	for _, r := range job.AllResources() {
		to, known := sum.Of(r), true
		for i := range v.Nodes {
			n := v.Nodes[i].Of(r)
			known = known && n.Capacity > 0
			to.Capacity += n.Capacity
			to.Mean += n.Mean
			to.Unknown = to.Unknown || n.Unknown
			to.Used = append(to.Used, make([]float64, len(n.Used)-len(to.Used))...)
			for k, used := range n.Used {
				to.Used[k] += used
				to.Max = max(to.Max, to.Used[k])
			}
		}
		if !known {
			to.Capacity = 0
		}
	}
	return sum
}

// usageNode writes the curves of one node.
func usageNode(b *strings.Builder, n *report.NodeUsageView, step float64, style Style) {
	b.WriteString("\n" + color(style.Color).bold(n.Node+aside(clean(n.Host))) + "\n")
	words, wide := [4]string{}, 0
	for _, r := range job.AllResources() {
		words[r] = usedText(r, n.Of(r))
		wide = max(wide, columns(words[r]))
	}
	width := min(max(style.Width-wide-len("  disk  │  "), minCols), maxCols, len(n.CPU.Used))
	for _, r := range job.AllResources() {
		side, curve := style.characters().side, string(curve(n.Of(r), width, []rune(style.characters().levels)))
		fmt.Fprintf(b, "  %-4s %s  %s\n", r, side+color(style.Color).green(curve)+side, words[r])
	}
	end := seconds(math.Ceil(10*step*float64(len(n.CPU.Used))) / 10)
	fmt.Fprintf(b, "       %s\n", " 0"+padLeft(end, max(width-1, 1+columns(end))))
}

// curve draws the use of a resource over time in that many characters, relative to its capacity or, where that is
// unknown, to the largest use.
func curve(v *report.ResourceView, width int, chars []rune) []rune {
	full := full(v)
	line := make([]rune, width)
	for i := range line {
		from, to := i*len(v.Used)/width, (i+1)*len(v.Used)/width
		sum := 0.0
		for _, used := range v.Used[from:to] {
			sum += used
		}
		level := 0
		if sum > 0 {
			level = int(math.Ceil(sum / float64(to-from) / full * float64(len(chars)-1)))
		}
		line[i] = chars[min(level, len(chars)-1)]
	}
	return line
}

// usedText describes the use of a resource.
func usedText(r job.Resource, v *report.ResourceView) string {
	text := fmt.Sprintf("mean %s, most %s", used(r, v.Mean), used(r, v.Max))
	if v.Capacity > 0 {
		text += fmt.Sprintf(" of %s (%.0f %%)", used(r, v.Capacity), 100*v.Mean/v.Capacity)
	}
	return inPart(v, text)
}

// full returns the capacity of a resource or, where that is unknown, its largest use.
func full(v *report.ResourceView) float64 {
	if v.Capacity > 0 {
		return v.Capacity
	}
	return v.Max
}

// inPart says of a text on the use of a resource how much of it was measured.
func inPart(v *report.ResourceView, text string) string {
	switch {
	case v.Unknown && v.Max == 0:
		return "not measured"
	case v.Unknown:
		return text + ", measured in part"
	}
	return text
}

// used formats an amount of a resource in the units of views: cores, bytes or bytes per second.
func used(r job.Resource, x float64) string {
	switch {
	case r == job.CPU:
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	case r == job.Memory:
		return size(int64(x))
	default:
		return size(int64(x)) + "/s"
	}
}
