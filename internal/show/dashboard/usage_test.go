package dashboard

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"berth/internal/server/report"
)

// usageOf returns the use of n nodes of two cores in three steps, of which node i uses i cores, at most two, in the second.
func usageOf(n int) report.UsageView {
	u := report.UsageView{Start: time.Unix(1, 0), StepS: 1}
	for i := range n {
		node := report.NodeUsageView{Node: fmt.Sprintf("a1/%d", i)}
		for _, of := range []*report.ResourceView{&node.CPU, &node.Mem, &node.Disk, &node.Net} {
			of.Used = make([]float64, 3)
		}
		node.CPU.Capacity, node.CPU.Used[1], node.CPU.Max = 2, float64(min(i, 2)), float64(min(i, 2))
		node.Disk.Used[2], node.Disk.Max = float64(100*i), float64(100*i)
		u.Nodes = append(u.Nodes, node)
	}
	return u
}

// TestHeat: up to seven nodes have lines of their own, more the sum of all and a heat map of at most 64 rows.
func TestHeat(t *testing.T) {
	if v := viewUsage(usageOf(7)); len(v.Series) != 7 || v.Heat != nil {
		t.Errorf("7 nodes have %d lines and the heat map %v", len(v.Series), v.Heat)
	}
	v := viewUsage(usageOf(8))
	if len(v.Series) != 1 || v.Series[0].Name != "all 8 nodes" {
		t.Fatalf("8 nodes have the lines %+v", v.Series)
	}
	if cpu := v.Series[0].Used["cpu"]; cpu.Capacity != 16 || !reflect.DeepEqual(cpu.Used, []float64{0, 13, 0}) {
		t.Errorf("together they use %+v", cpu)
	}
	if got := v.Heat.Rows["cpu"]; !reflect.DeepEqual(got, []string{"000", "080", "0f0", "0f0", "0f0", "0f0", "0f0", "0f0"}) {
		t.Errorf("the map of cores is %q", got)
	}
	if got := v.Heat.Rows["disk"]; got[0] != "000" || got[7] != "00f" { // without a capacity the largest use is the darkest
		t.Errorf("the map of disks is %q", got)
	}
	v = viewUsage(usageOf(1000))
	if n := len(v.Heat.Names); n > maxHeatRows || v.Heat.Names[0] != "a1/0 to a1/15" || v.Heat.Names[n-1] != "a1/992 to a1/999" || len(v.Nodes) != 1000 {
		t.Errorf("1,000 nodes have %d rows: %q", n, v.Heat.Names)
	}
}
