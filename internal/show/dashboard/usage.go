package dashboard

import (
	"fmt"

	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/show/ui"
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
		used := resources(&u.Nodes[i])
		for r, of := range used {
			n.Of[r] = take{of.Capacity, of.Mean, of.Max, of.Unknown}
		}
		v.Nodes = append(v.Nodes, n)
		if len(u.Nodes) <= maxSeries {
			v.Series = append(v.Series, series{n.Node, used})
		}
	}
	if len(u.Nodes) > maxSeries {
		sum := ui.UsageSum(u, fmt.Sprintf("all %d nodes", len(u.Nodes)))
		v.Series, v.Heat = []series{{sum.Node, resources(&sum)}}, heat(u)
	}
	return v
}

// resources returns the use of a node by resource.
func resources(n *report.NodeUsageView) map[string]report.ResourceView {
	all := map[string]report.ResourceView{}
	for _, r := range job.AllResources() {
		all[r.String()] = *n.Of(r)
	}
	return all
}
