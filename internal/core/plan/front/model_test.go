package front

import (
	"math"
	"testing"
)

// paperTypes are those of table 1 of the paper, m1.s at 0.065 $/h (0.65 there is a misprint). Task times go with ECU.
func paperTypes(task float64, limit int) []Type {
	types := []Type{{Name: "m1.s", Price: 0.065}, {Name: "m1.m", Price: 0.130}, {Name: "c1.m", Price: 0.165}}
	for i, ecu := range []float64{1, 2, 5} {
		types[i].Task, types[i].Unit, types[i].Slots, types[i].Limit = task/ecu, 1, 1, limit
		types[i].Rate = 10e6 * math.Min(ecu, 2)
	}
	return types
}

// paperBag is the paper's 1,500 frames; the capacity of the data server is assumed.
var paperBag = Bag{Tasks: 1500, Bytes: 23.3e6, Server: 35e6}

// TestFigure3: with 30 machines of a type an application that computes little saturates the server, where the simple estimate
// is far off; of one that computes much only the fastest of the three does, as in figure 3. Task times and capacity are assumed, as
// the paper does not print them.
func TestFigure3(t *testing.T) {
	for _, tt := range []struct {
		name      string
		task      float64
		saturated [3]bool // m1.s, m1.m, c1.m
	}{
		{"ImageMagick", 15, [3]bool{true, true, true}},
		{"OpenJpeg", 60, [3]bool{false, false, true}},
	} {
		m := NewModel(paperBag, paperTypes(tt.task, 30))
		for i, name := range []string{"m1.s", "m1.m", "c1.m"} {
			counts := make([]int, 3)
			counts[i] = 30
			p := m.Evaluate(counts)
			t.Logf("%-12s %s:30 model %5.0f s, simple %5.0f s, server %3.0f %%", tt.name, name, p.Makespan, p.Simple, 100*p.Use)
			if got := p.Makespan > 1.1*p.Simple; got != tt.saturated[i] {
				t.Errorf("%s %s: %+v", tt.name, name, p)
			}
		}
	}
}

// TestFigure5: of the points that the paper ran, from the cheapest to the tipping point, the simple estimate is close to the
// model where tasks compute much. Where they compute little it is close for the cheapest one, and off by less at the tipping
// point than with 30 machines; how close depends on the capacity, which is assumed.
func TestFigure5(t *testing.T) {
	for _, tt := range []struct{ task, cheapest, tipping float64 }{{15, 1.01, 1.25}, {60, 1.01, 1.1}} {
		m := NewModel(paperBag, paperTypes(tt.task, 10))
		set, _ := m.Search(0)
		tip, last := set[set.Tipping()], set[len(set)-1]
		for _, p := range []Point{last, tip} {
			t.Logf("task %g s, of %d points: %v costs %.2f, model %.0f s, simple %.0f s, server %.0f %%", tt.task, len(set), p.Counts, p.Cost, p.Makespan, p.Simple, 100*p.Use)
		}
		if last.Makespan > tt.cheapest*last.Simple || tip.Makespan > tt.tipping*tip.Simple {
			t.Errorf("task %g: %+v, %+v", tt.task, last, tip)
		}
	}
}

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
