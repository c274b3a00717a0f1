package cluster_test

import (
	"testing"
	"time"

	"berth/internal/core/cluster"
)

// TestAllows: whose bound counts, where several set one.
func TestAllows(t *testing.T) {
	a := &cluster.Accounting{
		Associations: []cluster.Association{
			{Account: "main", Default: true, QOS: "normal", Bounds: cluster.Bounds{cluster.WallTime: int64(time.Hour), cluster.GroupCPUs: 8, cluster.JobNodes: 3}},
			{Account: "main", Partition: "gpu", Default: true, QOS: "long", Bounds: cluster.Bounds{cluster.JobNodes: 1}},
		},
		QOS: []cluster.QOS{
			{Name: "normal", Bounds: cluster.Bounds{cluster.UserCPUs: 16}},
			{Name: "long", Bounds: cluster.Bounds{cluster.WallTime: int64(10 * time.Hour), cluster.UserCPUs: 4}},
			{Name: "part", MinCPUs: 6, Bounds: cluster.Bounds{cluster.WallTime: int64(2 * time.Hour)}},
			{Name: "over", Over: true, MinCPUs: 3, Bounds: cluster.Bounds{cluster.WallTime: int64(3 * time.Hour)}},
		},
	}
	batch, gpu, own := &cluster.Partition{Name: "batch"}, &cluster.Partition{Name: "gpu"}, &cluster.Partition{Name: "own", QOS: "part"}
	for _, c := range []struct {
		account, qos        string
		part                *cluster.Partition
		time                time.Duration
		nodes, cpus, least  int64
		timeBy, nodesBy, by string
	}{
		{"", "", batch, time.Hour, 3, 8, 0, "account main", "account main", "account main"},
		{"main", "long", batch, 10 * time.Hour, 3, 4, 0, "QOS long", "account main", "QOS long"},
		{"", "", gpu, 10 * time.Hour, 1, 4, 0, "QOS long", "account main", "QOS long"},
		{"", "long", own, 2 * time.Hour, 3, 4, 6, "QOS part", "account main", "QOS long"},
		{"", "over", own, 3 * time.Hour, 3, 8, 3, "QOS over", "account main", "account main"},
		{"other", "long", batch, 0, 0, 0, 0, "", "", ""},
	} {
		got := a.Allows(c.account, c.qos, c.part)
		want := cluster.Allowance{Time: cluster.Limit{Value: int64(c.time), By: c.timeBy}, Nodes: cluster.Limit{Value: c.nodes, By: c.nodesBy}, CPUs: cluster.Limit{Value: c.cpus, By: c.by}, Least: c.least}
		if got != want {
			t.Errorf("%s, %s in %s: %+v, want %+v", c.account, c.qos, c.part.Name, got, want)
		}
	}
	if got := (*cluster.Accounting)(nil).Allows("", "", batch); got != (cluster.Allowance{}) {
		t.Errorf("of nothing: %+v", got)
	}
	bound := &cluster.Partition{Name: "q", Bounds: cluster.Bounds{cluster.UserCPUs: 2}}
	if got := a.Allows("other", "", bound); got != (cluster.Allowance{CPUs: cluster.Limit{Value: 2, By: "partition q"}}) {
		t.Errorf("of the partition alone: %+v", got)
	}
}
