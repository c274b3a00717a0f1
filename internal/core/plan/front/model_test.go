package front

import (
	"math"
	"testing"
)

// TestBill: started units, a minimum, and no unit more by rounding.
func TestBill(t *testing.T) {
	for _, tt := range []struct{ unit, minimum, seconds, want float64 }{
		{3600, 0, 1, 2}, {3600, 0, 3600, 2}, {3600, 0, 3601, 4}, {1, 60, 10, 2.0 / 60}, {1, 60, 90, 0.05}, {1, 0, 0.5, 2.0 / 3600},
	} {
		k := Type{Price: 2, Unit: tt.unit, Minimum: tt.minimum}
		if got := k.Bill(tt.seconds); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: %g", tt, got)
		}
	}
}

// TestEvaluate: one machine does all tasks one after another, with or without a tail; a boot comes on top, interruptions and
// slots count, and the data moved has its price.
func TestEvaluate(t *testing.T) {
	base := Type{Price: 3600, Unit: 1, Task: 9, Rate: 10, Slots: 1, Limit: 9, Boot: 50}
	for _, tt := range []struct {
		name string
		bag  Bag
		set  func(*Type)
		want float64
		cost float64
	}{
		{"paper", Bag{Tasks: 100, Bytes: 10}, nil, 1000, 1000},
		{"tail", Bag{Tasks: 100, Bytes: 10, Spread: 0.5, Tail: true}, nil, 1000, 0},
		{"boot", Bag{Tasks: 100, Bytes: 10, Boot: true}, nil, 1050, 1050},
		{"server", Bag{Tasks: 100, Bytes: 10, Server: 5}, nil, 1100, 1100},
		{"moved", Bag{Tasks: 100, Bytes: 10, Transfer: 0.5}, nil, 1000, 1500},
		{"slots", Bag{Tasks: 100}, func(t *Type) { t.Slots = 4 }, 225, 225},
		{"spot", Bag{Tasks: 100}, func(t *Type) { t.Interruptions = 40 }, 100 * math.Expm1(0.1) * 140, 0},
	} {
		one := base
		if tt.set != nil {
			tt.set(&one)
		}
		p := NewModel(tt.bag, []Type{one}).Evaluate([]int{1})
		if math.Abs(p.Makespan/tt.want-1) > 0.01 || tt.cost > 0 && math.Abs(p.Cost/tt.cost-1) > 0.01 {
			t.Errorf("%s: %+v, want %g s, %g", tt.name, p, tt.want, tt.cost)
		}
	}
}

// TestChoose: the cheapest within a deadline, the fastest within a budget, or none.
func TestChoose(t *testing.T) {
	s := Set{{Makespan: 10, Cost: 9}, {Makespan: 20, Cost: 4}, {Makespan: 40, Cost: 3}}
	for _, tt := range []struct {
		budget, deadline float64
		want             int
	}{{5, 0, 1}, {2, 0, -1}, {0, 25, 1}, {0, 5, -1}, {5, 50, 2}, {3.5, 25, -1}, {100, 0, 0}} {
		if got := s.Within(tt.budget, tt.deadline); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
	if got := s.Tipping(); got != 1 {
		t.Errorf("tipping point %d", got)
	}
}
