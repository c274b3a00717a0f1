package dashboard

import (
	"fmt"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// maxSeries is the largest number of nodes with lines of their own.
const maxSeries = 7

// usageView has the resources that the job used on its nodes over time. With more than maxSeries nodes the only line is
// the sum of all nodes, and there is a heat map; every node has its mean and maximum in any case.
type usageView struct {
	Start  int64       `json:"start_ms"` // of the first step, milliseconds since 1970; 0: no phase is over
	StepS  float64     `json:"step_s"`
	Series []series    `json:"series"`
	Heat   *heatView   `json:"heat,omitempty"`
	Nodes  []nodeTakes `json:"nodes"`
}

// series is one line of each plot.
type series struct {
	Name string                         `json:"name"`
	Used map[string]report.ResourceView `json:"used"` // by resource: cpu, mem, disk, net
}

// nodeTakes has the use of one node.
type nodeTakes struct {
	Node string          `json:"node"`
	Host string          `json:"host"`
	Of   map[string]take `json:"of"` // by resource
}

type take struct {
	Capacity float64 `json:"capacity"` // 0: not known
	Mean     float64 `json:"mean"`
	Max      float64 `json:"max"`
	Unknown  bool    `json:"unmeasured,omitempty"`
}

func viewUsage(u report.UsageView) usageView {
	v := usageView{StepS: u.StepS, Series: []series{}, Nodes: []nodeTakes{}}
	if !u.Start.IsZero() {
		v.Start = u.Start.UnixMilli()
	}
	for i := range u.Nodes {
		n := nodeTakes{Node: u.Nodes[i].Node, Host: u.Nodes[i].Host, Of: map[string]take{}}
		line := series{Name: n.Node, Used: map[string]report.ResourceView{}}
		for _, r := range job.AllResources() {
			of := *u.Nodes[i].Of(r)
			n.Of[r.String()] = take{of.Capacity, of.Mean, of.Max, of.Unknown}
			line.Used[r.String()] = of
		}
		v.Nodes = append(v.Nodes, n)
		if len(u.Nodes) <= maxSeries {
			v.Series = append(v.Series, line)
		}
	}
	if len(u.Nodes) > maxSeries {
		v.Series, v.Heat = []series{total(u)}, heat(u)
	}
	return v
}

// total returns the use of all nodes together.
func total(u report.UsageView) series {
	sum := series{Name: fmt.Sprintf("all %d nodes", len(u.Nodes)), Used: map[string]report.ResourceView{}}
	for _, r := range job.AllResources() {
		var of report.ResourceView
		for i := range u.Nodes {
			n := u.Nodes[i].Of(r)
			of.Capacity += n.Capacity
			of.Unknown = of.Unknown || n.Unknown
			of.Used = append(of.Used, make([]float64, len(n.Used)-len(of.Used))...)
			for k, v := range n.Used {
				of.Used[k] += v
			}
		}
		sum.Used[r.String()] = of
	}
	return sum
}
