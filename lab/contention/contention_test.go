package contention

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func genRates(most float64) *rapid.Generator[Rates] {
	return rapid.Custom(func(t *rapid.T) (r Rates) {
		for i := range r {
			if rapid.Bool().Draw(t, "uses") {
				r[i] = rapid.Float64Range(most/1000, most).Draw(t, "rate")
			}
		}
		return r
	})
}

// genNode draws a node whose flows demand up to twice its capacity.
func genNode(t *rapid.T) *Node {
	n := NewNode(Rates{4, 100, 125, 125}, 0)
	scale := n.capacity
	for range rapid.IntRange(1, 12).Draw(t, "flows") {
		d := genRates(2).Draw(t, "demand")
		for r := range d {
			d[r] *= scale[r]
		}
		n.Add(0, &Flow{Demand: d, Limit: rapid.Float64Range(0.25, 2).Draw(t, "limit"), Left: rapid.Float64Range(0.001, 100).Draw(t, "left")})
	}
	n.update()
	return n
}

const close = 1e-5

// TestCapacity checks that no resource is used beyond its capacity, that no flow exceeds its limit,
// and that every flow advances.
func TestCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := genNode(t)
		for r, sum := range n.load() {
			if sum > n.capacity[r]*(1+close) {
				t.Fatalf("resource %d: %g of %g", r, sum, n.capacity[r])
			}
		}
		for _, f := range n.flows {
			if f.speed > f.Limit*(1+close) || f.speed <= 0 {
				t.Fatalf("speed %g, limit %g", f.speed, f.Limit)
			}
		}
	})
}

// TestLoss checks that a disk is slower the more flows use it, and that others do not feel it.
func TestLoss(t *testing.T) {
	n := NewNode(Rates{4, 100, 125, 125}, 0.25)
	for _, disk := range []float64{0, 100, 100, 100} {
		n.Add(0, &Flow{Demand: Rates{1, disk}, Limit: 1, Left: 10})
		n.update()
		sum := 0.0
		for _, f := range n.flows[1:] {
			sum += float64(f.speed * 100)
		}
		if want := map[int]float64{1: 0, 2: 100, 3: 80, 4: 100 / 1.5}[len(n.flows)]; math.Abs(sum-want) > close || n.flows[0].speed != 1 {
			t.Errorf("%d flows: %g bytes/s of the disk, want %g; without it %g", len(n.flows), sum, want, n.flows[0].speed)
		}
	}
}

// TestWorkConserving checks that a flow below its limit uses a resource that is fully used.
func TestWorkConserving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := genNode(t)
		sum := n.load()
		for _, f := range n.flows {
			held := f.speed >= f.Limit*(1-close)
			for r, d := range f.Demand {
				held = held || d > 0 && sum[r] >= n.capacity[r]*(1-close)
			}
			if !held {
				t.Fatalf("speed %g of %g, and nothing it uses is used up: %v of %v", f.speed, f.Limit, sum, n.capacity)
			}
		}
	})
}

// TestMaxMin checks for one resource that a flow that gets less than another gets all that it
// demands.
func TestMaxMin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNode(Rates{4, 100, 125, 125}, 0)
		r := Resource(rapid.IntRange(0, int(Resources)-1).Draw(t, "resource"))
		for range rapid.IntRange(1, 12).Draw(t, "flows") {
			f := &Flow{Limit: rapid.Float64Range(0.25, 2).Draw(t, "limit"), Left: 1}
			f.Demand[r] = n.capacity[r] * rapid.Float64Range(0.01, 2).Draw(t, "demand")
			n.Add(0, f)
		}
		n.update()
		for _, f := range n.flows {
			for _, g := range n.flows {
				if f.Demand[r]*f.speed < g.Demand[r]*g.speed*(1-close) && f.speed < f.Limit*(1-close) {
					t.Fatalf("one gets %g and wants more, another has %g", f.Demand[r]*f.speed, g.Demand[r]*g.speed)
				}
			}
		}
	})
}

// TestBottleneck checks for two resources that a flow below its limit has about the largest part of
// some fully used resource.
func TestBottleneck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNode(Rates{4, 100, 125, 125}, 0)
		for range rapid.IntRange(1, 12).Draw(t, "flows") {
			f := &Flow{Limit: 1, Left: 1}
			f.Demand[CPU] = rapid.Float64Range(0.1, 2).Draw(t, "cpu")
			f.Demand[Disk] = rapid.Float64Range(1, 100).Draw(t, "disk")
			n.Add(0, f)
		}
		n.update()
		sum := n.load()
		for _, f := range n.flows {
			ok := f.speed >= f.Limit*(1-close)
			for _, r := range []Resource{CPU, Disk} {
				most := 0.0
				for _, g := range n.flows {
					most = max(most, g.Demand[r]*g.speed)
				}
				ok = ok || sum[r] >= n.capacity[r]*(1-close) && f.Demand[r]*f.speed >= most*0.95
			}
			if !ok {
				t.Fatalf("a flow of %v at %g is below what others have: %v", f.Demand, f.speed, n.capacity)
			}
		}
	})
}

// TestAlone checks that a flow alone, with demands within the node's capacity, advances at its limit
// and ends in time.
func TestAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNode(Rates{4, 100, 125, 125}, 0)
		f := &Flow{Demand: genRates(1).Draw(t, "demand"), Limit: 1, Left: rapid.Float64Range(0.001, 100).Draw(t, "left")}
		left := f.Left
		n.Add(3, f)
		if got := n.Next(); f.Speed() != 1 || math.Abs(got-3-left) > close {
			t.Fatalf("speed %g, done at %g instead of %g", f.Speed(), got, 3+left)
		}
		if ended := n.Ended(n.Next()+done, nil); len(ended) != 1 || n.Next() != math.Inf(1) {
			t.Fatalf("it did not end: %v left", f.Left)
		}
	})
}

// TestWork checks that after all flows have ended the node's use equals their demands, in any order
// of arrivals and ends.
func TestWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := genNode(t)
		var want Rates
		for _, f := range n.flows {
			for r, d := range f.Demand {
				want[r] += d * f.Left
			}
		}
		now := 0.0
		for len(n.flows) > 0 {
			now = math.Nextafter(n.Next(), math.Inf(1))
			n.Ended(now, nil)
		}
		for r, u := range n.Used() {
			if math.Abs(u-want[r]) > close*(1+want[r]) || u > n.capacity[r]*now*(1+close) {
				t.Fatalf("resource %d: used %g, wanted %g, until %g", r, u, want[r], now)
			}
		}
	})
}

func TestShares(t *testing.T) {
	for name, tt := range map[string]struct {
		demands []Rates
		want    []float64
	}{
		"five flows on four cores":         {[]Rates{{1}, {1}, {1}, {1}, {1}}, []float64{0.8, 0.8, 0.8, 0.8, 0.8}},
		"a small demand is met":            {[]Rates{{CPU: 4}, {CPU: 4}, {CPU: 1}}, []float64{0.375, 0.375, 1}},
		"one flow is bound by the disk":    {[]Rates{{CPU: 4, Disk: 200}, {CPU: 4}}, []float64{0.5, 0.5}},
		"unused cores are given to others": {[]Rates{{CPU: 2, Disk: 400}, {CPU: 4}}, []float64{0.25, 0.875}},
		"both directions of the network":   {[]Rates{{In: 125}, {Out: 125}, {Out: 125}}, []float64{1, 0.5, 0.5}},
	} {
		n := NewNode(Rates{4, 100, 125, 125}, 0)
		for _, d := range tt.demands {
			n.Add(0, &Flow{Demand: d, Limit: 1, Left: 1})
		}
		n.update()
		for i, f := range n.flows {
			if math.Abs(f.speed-tt.want[i]) > close {
				t.Errorf("%s: flow %d advances at %g, want %g", name, i, f.speed, tt.want[i])
			}
		}
	}
}

// BenchmarkChange replaces one flow on a node where seven others compete for all resources.
func BenchmarkChange(b *testing.B) {
	n := NewNode(Rates{4, 100e6, 125e6, 125e6}, 0)
	for i := range 8 {
		n.Add(0, &Flow{Demand: Rates{float64(i+1) / 8, float64(8-i) * 8e6, float64(i%3) * 30e6, float64(i%2) * 50e6}, Limit: 1, Left: 1e12})
	}
	now := 0.0
	for b.Loop() {
		f := n.flows[0]
		now++
		n.Remove(now, f)
		n.Add(now, f)
		n.Next()
	}
}
