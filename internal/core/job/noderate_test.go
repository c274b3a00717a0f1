package job

import "testing"

func TestNodeRates(t *testing.T) {
	r := NodeRates{
		Disk: []NodeRate{{"", 500}, {"gpu*", 2000}, {"fast", 900}},
		Net:  []NodeRate{{"n1", 7}},
	}
	for _, c := range []struct {
		host, constraint string
		disk, net        int64
	}{
		{"n1", "", 500, 7},
		{"n1.cluster.example", "", 500, 7},
		{"gpu07", "", 2000, 0},
		{"n2", "[fast*2&avx2]", 900, 0},
		{"n2", "faster", 500, 0},
	} {
		if disk, net := r.Of(c.host, c.constraint); disk != c.disk || net != c.net {
			t.Errorf("%s, asked for as %q: %d and %d, want %d and %d", c.host, c.constraint, disk, net, c.disk, c.net)
		}
	}
	if disk, net := (NodeRates{}).Of("n1", ""); disk != 0 || net != 0 {
		t.Errorf("%d and %d where nothing was told", disk, net)
	}
}
