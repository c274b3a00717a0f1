package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"berth/lab/contention"
)

// TestServer: transfers get what the laboratory's model of a shared resource gives them.
func TestServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &server{w: &World{now: Epoch}, rate: rapid.Float64Range(1, 100).Draw(t, "rate")}
		node := contention.NewNode(contention.Rates{contention.In: s.rate}, 0)
		var flows []*contention.Flow
		for _, most := range rapid.SliceOfN(rapid.Float64Range(1, 50), 1, 20).Draw(t, "machines") {
			s.advance()
			s.transfers = append(s.transfers, &transfer{most: most, left: 10})
			flows = append(flows, &contention.Flow{Demand: contention.Rates{contention.In: most}, Limit: 1, Left: 10})
			node.Add(0, flows[len(flows)-1])
		}
		s.share()
		if next := node.Next(); math.Abs((s.armed-Epoch).Sub(0).Seconds()-next) > 0.001 {
			t.Errorf("the first transfer ends at %v instead of %v s", s.armed-Epoch, next)
		}
		for i, f := range flows {
			if got := s.transfers[i].speed; math.Abs(got-f.Speed()) > 1e-9 {
				t.Errorf("transfer %d: %g instead of %g of what its machine can use", i, got, f.Speed())
			}
		}
	})
}
