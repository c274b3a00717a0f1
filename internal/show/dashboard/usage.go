package dashboard

import (
	"fmt"
	"slices"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// maxSeries is the largest number of nodes with lines of their own.
const maxSeries = 8

// usageView has the resources that the job used on its nodes over time. With more than maxSeries nodes the lines are
// the mean, the highest and the lowest of all nodes; every node has its mean and maximum in any case.
type usageView struct {
	Start  int64       `json:"start_ms"` // of the first step, milliseconds since 1970; 0: no phase is over
	StepS  float64     `json:"step_s"`
	Series []series    `json:"series"`
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
		v.Series = summary(u)
	}
	return v
}

// summary returns the mean, the highest and the lowest use of all nodes.
func summary(u report.UsageView) []series {
	out := []series{{Name: fmt.Sprintf("mean of %d nodes", len(u.Nodes))}, {Name: "highest"}, {Name: "lowest"}}
	for i := range out {
		out[i].Used = map[string]report.ResourceView{}
	}
	for _, r := range job.AllResources() {
		var of [3]report.ResourceView
		for k := range u.Nodes[0].Of(r).Used {
			at := make([]float64, len(u.Nodes))
			sum := 0.0
			for i := range u.Nodes {
				at[i] = u.Nodes[i].Of(r).Used[k]
				sum += at[i]
			}
			of[0].Used = append(of[0].Used, sum/float64(len(at)))
			of[1].Used = append(of[1].Used, slices.Max(at))
			of[2].Used = append(of[2].Used, slices.Min(at))
		}
		for i := range out {
			for n := range u.Nodes {
				of[i].Capacity = max(of[i].Capacity, u.Nodes[n].Of(r).Capacity)
			}
			out[i].Used[r.String()] = of[i]
		}
	}
	return out
}
