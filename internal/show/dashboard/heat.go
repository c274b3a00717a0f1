package dashboard

import (
	"fmt"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// maxHeatRows is the largest number of rows of a heat map. More nodes share rows.
const maxHeatRows = 64

// heatView is the use of many nodes over time. Each row is a text with one character for each step: the use as a part of
// the capacity in hexadecimal, 0 to f, or of the largest use of any node if the capacity is not known.
type heatView struct {
	Names []string            `json:"names"` // of the rows: a node, or the first and the last of several
	Rows  map[string][]string `json:"rows"`  // by resource
}

func heat(u report.UsageView) *heatView {
	v := &heatView{Rows: map[string][]string{}}
	each := (len(u.Nodes) + maxHeatRows - 1) / maxHeatRows
	for first := 0; first < len(u.Nodes); first += each {
		of := u.Nodes[first:min(first+each, len(u.Nodes))]
		name := of[0].Node
		if len(of) > 1 {
			name = fmt.Sprintf("%s to %s", name, of[len(of)-1].Node)
		}
		v.Names = append(v.Names, name)
		for _, r := range job.AllResources() {
			v.Rows[r.String()] = append(v.Rows[r.String()], heatRow(of, r, largest(u, r)))
		}
	}
	return v
}

// largest returns the largest use of any node in any step.
func largest(u report.UsageView, r job.Resource) (most float64) {
	for i := range u.Nodes {
		most = max(most, u.Nodes[i].Of(r).Max)
	}
	return most
}

// heatRow returns the mean use of some nodes. most stands for a capacity that is not known.
func heatRow(nodes []report.NodeUsageView, r job.Resource, most float64) string {
	row := make([]byte, len(nodes[0].Of(r).Used))
	for k := range row {
		sum := 0.0
		for i := range nodes {
			of := nodes[i].Of(r)
			whole := of.Capacity
			if whole <= 0 {
				whole = most
			}
			if whole > 0 {
				sum += min(of.Used[k]/whole, 1)
			}
		}
		row[k] = "0123456789abcdef"[int(sum/float64(len(nodes))*15+0.5)]
	}
	return string(row)
}
