package front

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestManyMachinesShareBetter: a search that assumed the least contention for few machines missed a point of this
// bag.
func TestManyMachinesShareBetter(t *testing.T) {
	same(t, NewModel(Bag{Tasks: 1, Bytes: 0.5, Server: 2}, []Type{{Unit: 1, Task: 0.5, Limit: 2}, {Price: 0.05, Unit: 1, Task: 4.75, Limit: 4},
		{Price: 0.05, Unit: 1, Minimum: 60, Task: 3.99609375, Limit: 3}}))
}

// TestCostsThatDifferByRounding: a search that trusted its bounds to the last digit missed a point whose cost is less than that of
// faster machines only by rounding.
func TestCostsThatDifferByRounding(t *testing.T) {
	same(t, NewModel(Bag{Tasks: 2, Bytes: 1.125, Transfer: 1e-3}, []Type{{Unit: 1, Task: 1, Slots: 1}, {Unit: 1, Task: 1, Slots: 1},
		{Price: 0.05, Unit: 3600, Task: 1, Rate: 1, Slots: 1, Limit: 3}, {Price: 0.05, Unit: 3600, Task: 41.5, Slots: 1, Limit: 2}}))
}

// enumerate returns the front by evaluating all configurations.
func (m *Model) enumerate() (found Set) {
	counts := make([]int, len(m.kinds))
	for {
		i := 0
		for i < len(counts) && counts[i] == m.kinds[i].Limit {
			counts[i] = 0
			i++
		}
		if i == len(counts) {
			return found
		}
		counts[i]++
		found.add(m.Evaluate(counts))
	}
}

// same fails unless the search finds exactly the points of the enumeration.
func same(t interface{ Fatalf(string, ...any) }, m *Model) {
	want := m.enumerate()
	got, _ := m.Search(0)
	if len(got) != len(want) {
		t.Fatalf("%d points, enumeration %d:\n%v\n%v", len(got), len(want), got, want)
	}
	for i := range want {
		if got[i].Cost != want[i].Cost || got[i].Makespan != want[i].Makespan {
			t.Fatalf("point %d is %+v, enumeration %+v", i, got[i], want[i])
		}
	}
}

func drawBag(t *rapid.T) Bag {
	b := Bag{Tasks: rapid.IntRange(1, 3000).Draw(t, "tasks"), Bytes: rapid.Float64Range(0, 100).Draw(t, "bytes"),
		Spread: rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "spread"), Transfer: rapid.SampledFrom([]float64{0, 1e-3}).Draw(t, "transfer"),
		Tail: rapid.Bool().Draw(t, "tail"), Boot: rapid.Bool().Draw(t, "boot")}
	if rapid.Bool().Draw(t, "limited") {
		b.Server = rapid.Float64Range(1, 200).Draw(t, "server")
	}
	return b
}

func drawTypes(t *rapid.T, bag Bag, most, limit int) []Type {
	types := make([]Type, rapid.IntRange(1, most).Draw(t, "types"))
	for i := range types {
		types[i] = Type{
			Name: fmt.Sprint(i), Price: rapid.SampledFrom([]float64{0, 0.05, 0.1, 0.13, 0.2, 0.4}).Draw(t, "price"),
			Unit: rapid.SampledFrom([]float64{1, 60, 3600}).Draw(t, "unit"), Minimum: rapid.SampledFrom([]float64{0, 60}).Draw(t, "minimum"),
			Boot: rapid.SampledFrom([]float64{0, 30, 200}).Draw(t, "boot"), Task: rapid.Float64Range(0.5, 100).Draw(t, "task"),
			Rate: rapid.SampledFrom([]float64{0, 1, 5, 20}).Draw(t, "rate"), Slots: rapid.IntRange(1, 4).Draw(t, "slots"),
			Limit: rapid.IntRange(0, limit).Draw(t, "limit"), Interruptions: rapid.SampledFrom([]float64{0, 0, 0.5}).Draw(t, "interruptions"),
		}
		if bag.Bytes == 0 {
			types[i].Rate = 0
		}
	}
	return types
}

// drawJob returns the model of a job of one to three phases.
func drawJob(t *rapid.T, most, limit int) *Model {
	bag := drawBag(t)
	types := drawTypes(t, bag, most, limit)
	m := NewModel(bag, types)
	for range rapid.IntRange(0, 2).Draw(t, "more phases") {
		next, own := drawBag(t), slices.Clone(types)
		next.Boot = bag.Boot
		for i := range own {
			own[i].Task, own[i].Slots = rapid.Float64Range(0.5, 100).Draw(t, "task"), rapid.IntRange(1, 4).Draw(t, "slots")
		}
		m.Then(NewModel(next, own))
	}
	return m
}

// TestSearchIsEnumeration: the search finds exactly the points of the enumeration.
func TestSearchIsEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		same(t, drawJob(t, 4, 4))
	})
}

// TestSearchWithin: with epsilon each configuration of a bag has a point that is worse by at most that factor, and of a job of several phases by at
// most the factor that the search says.
func TestSearchWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawJob(t, 3, 4)
		epsilon := rapid.Float64Range(0.02, 0.2).Draw(t, "epsilon")
		got, within := m.Search(epsilon)
		if within != epsilon && len(m.phases) == 1 {
			t.Fatalf("a search of few choices was given up: %g", within)
		}
		for _, p := range m.enumerate() {
			if c := got.cheapest(p.Makespan * (1 + within)); c > p.Cost*(1+within)*(1+1e-12) {
				t.Fatalf("nothing in %g of %+v: %v", within, p, got)
			}
		}
	})
}

// TestBoxBounds: the bound of a box is not above the cost of any configuration in it whose makespan is in the slice, what is known of its
// phases holds for these, and none of them is left out.
func TestBoxBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawJob(t, 4, 30)
		s := m.newSearch(rapid.Float64Range(0, 0.05).Draw(t, "epsilon"))
		b := s.all()
		counts := make([]int, len(m.kinds))
		for i := range m.kinds {
			b.high[i] = rapid.IntRange(0, m.kinds[i].Limit).Draw(t, "high")
			counts[i] = rapid.IntRange(0, b.high[i]).Draw(t, "count")
			b.low[i] = rapid.IntRange(0, counts[i]).Draw(t, "low")
		}
		if slices.Max(counts) == 0 {
			return
		}
		for at, f := range m.phases {
			if _, rate := f.start(counts); f.server > 0 && rapid.Bool().Draw(t, "use is known") {
				b.phases[at].least = f.server * rate / rapid.Float64Range(1, 1.1).Draw(t, "least use")
				b.phases[at].most = f.server * rate * rapid.Float64Range(1, 1.1).Draw(t, "most use")
			}
		}
		p := m.Evaluate(counts)
		if p.Cost > 0 && rapid.Bool().Draw(t, "known") {
			s.found.add(Point{Makespan: p.Makespan / 2, Cost: p.Cost * (1 + s.epsilon) * 1.001})
		}
		s.slice(p.Makespan*(1-1e-6), p.Makespan*rapid.Float64Range(1.000001, 1.05).Draw(t, "wide"))
		if !s.bound(b) || b.least > p.Cost*(1+1e-9) {
			t.Fatalf("%+v is above %+v", b, p)
		}
		for i, n := range counts {
			if n < b.low[i] || n > b.high[i] {
				t.Fatalf("%v is left out of %+v", counts, b)
			}
		}
		for at, f := range m.phases {
			known := b.phases[at]
			start, rate := f.start(counts)
			if start.Slowed > known.start.Slowed*(1+1e-9) || start.Credit > known.start.Credit+1e-9 {
				t.Fatalf("phase %d of %v: %+v, bound %+v", at, counts, start, known)
			}
			if use := f.server * rate; use < known.least*(1-1e-9) || use > known.most*(1+1e-9) || use*start.Slowed > known.served*(1+1e-9) {
				t.Fatalf("phase %d of %v uses %g of the server, bound %+v", at, counts, use, known)
			}
			if tail, _ := f.tail(counts); tail < known.tail*(1-1e-9) && !f.oneWave(counts) {
				t.Fatalf("phase %d of %v has a tail of %g s, bound %+v", at, counts, tail, known)
			}
		}
	})
}

// catalogue returns types like those of providers: families of sizes with nearly linear prices, paid by hours or
// seconds.
func catalogue(n, limit int, seed uint64) []Type {
	rng := rand.New(rand.NewPCG(seed, 1))
	types := make([]Type, n)
	for i := range types {
		speed := math.Exp(2 * rng.Float64())
		types[i] = Type{Name: fmt.Sprint(i), Price: 0.05 * speed * (0.8 + 0.4*rng.Float64()), Unit: 1, Minimum: 60, Boot: 30 + 60*rng.Float64(),
			Task: 120 / speed, Rate: 25e6 * (0.5 + rng.Float64()), Slots: 1, Limit: limit}
	}
	return types
}

var largeBag = Bag{Tasks: 15000, Bytes: 23.3e6, Server: 400e6, Spread: 0.3, Tail: true, Boot: true}

// BenchmarkPhases searches the front of a MapReduce job.
func BenchmarkPhases(b *testing.B) {
	for _, size := range []struct{ types, limit int }{{5, 10}, {10, 10}, {20, 100}} {
		b.Run(fmt.Sprintf("%dx%d", size.types, size.limit), func(b *testing.B) {
			types := catalogue(size.types, size.limit, 1)
			reduce := slices.Clone(types)
			for i := range reduce {
				reduce[i].Task *= 3 * (0.7 + 0.6*float64(i%3)/2)
			}
			for b.Loop() {
				m := NewModel(largeBag, types)
				m.Then(NewModel(Bag{Tasks: 2000, Bytes: 10e6, Server: 400e6, Spread: 0.3, Tail: true, Boot: true}, reduce))
				found, within := m.Search(0.01)
				b.ReportMetric(float64(len(found)), "points")
				b.ReportMetric(within, "within")
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, unit := range []float64{1, hour} {
		for _, size := range []struct {
			types, limit int
			epsilon      float64
		}{{5, 10, 0}, {10, 10, 0}, {20, 100, 0.01}} {
			types := catalogue(size.types, size.limit, 1)
			for i := range types {
				types[i].Unit = unit
			}
			b.Run(fmt.Sprintf("%dx%d/unit=%g/epsilon=%g", size.types, size.limit, unit, size.epsilon), func(b *testing.B) {
				for b.Loop() {
					found, within := NewModel(largeBag, types).Search(size.epsilon)
					b.ReportMetric(float64(len(found)), "points")
					b.ReportMetric(within, "within")
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
			})
		}
	}
}
