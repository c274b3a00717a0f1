package front

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/predict/rented"
)

// TestManyMachinesShareBetter: a search that assumed the least contention for few machines missed a point of this
// bag.
func TestManyMachinesShareBetter(t *testing.T) {
	same(t, NewModel(Bag{Tasks: 1, Bytes: 0.5, Server: 2}, []Type{{Unit: 1, Task: 0.5, Limit: 2}, {Price: 0.05, Unit: 1, Task: 4.75, Limit: 4},
		{Price: 0.05, Unit: 1, Minimum: 60, Task: 3.99609375, Limit: 3}}))
}

// TestCostsTie: costs that differ by rounding alone are equal, so that the faster point dominates the other one, in whatever order both are
// found. Three machines of 0.1 and one of 0.1 with one of 0.2 cost 0.3 and some last digits.
func TestCostsTie(t *testing.T) {
	a, b, c := 0.1+0.2, 0.3, 0.1*3
	points := []Point{{Makespan: 10, Cost: a}, {Makespan: 20, Cost: b}, {Makespan: 30, Cost: c}, {Makespan: 5, Cost: 1}, {Makespan: 40, Cost: 0.2}, {Makespan: 50}, {Makespan: 60}}
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		for _, p := range rapid.Permutation(points).Draw(t, "order") {
			s.add(p)
		}
		if len(s) != 4 || s[0].Makespan != 5 || s[1].Makespan != 10 || s[2].Makespan != 40 || s[3].Makespan != 50 {
			t.Fatalf("%v", s)
		}
	})
	types := []Type{{Price: 0.1, Unit: hour, Task: 10, Limit: 3}, {Price: 0.2, Unit: hour, Task: 5, Limit: 2}}
	set := NewModel(Bag{Tasks: 100}, types).enumerate()
	for i := 1; i < len(set); i++ {
		if math.Round(set[i].Cost*10) == math.Round(set[i-1].Cost*10) {
			t.Errorf("%v costs as much as %v", set[i], set[i-1])
		}
	}
}

// TestCostsThatDifferByRounding: a search that trusted its bounds to the last digit missed a point whose cost is that of
// others but for rounding.
func TestCostsThatDifferByRounding(t *testing.T) {
	same(t, NewModel(Bag{Tasks: 2, Bytes: 1.125, Transfer: 1e-3}, []Type{{Unit: 1, Task: 1, Slots: 1}, {Unit: 1, Task: 1, Slots: 1},
		{Price: 0.05, Unit: 3600, Task: 1, Rate: 1, Slots: 1, Limit: 3}, {Price: 0.05, Unit: 3600, Task: 41.5, Slots: 1, Limit: 2}}))
}

// enumerate returns the front by evaluating all configurations.
func (m *Model) enumerate() (found Set) {
	for _, p := range m.points() {
		found.add(p)
	}
	return found
}

// points evaluates all configurations.
func (m *Model) points() (all []Point) {
	counts := make([]int, len(m.kinds))
	for {
		i := 0
		for i < len(counts) && counts[i] == m.kinds[i].Limit {
			counts[i] = 0
			i++
		}
		if i == len(counts) {
			return all
		}
		counts[i]++
		all = append(all, m.Evaluate(counts))
	}
}

// TestShareOfWave: a phase whose tasks all begin at once can get nearly all of the time that phases are taken to have.
func TestShareOfWave(t *testing.T) {
	types := []Type{{Price: 0.05, Unit: 1, Minimum: 60, Task: 0.5, Slots: 2, Limit: 2},
		{Price: 0.05, Unit: 3600, Boot: 200, Task: 19.209943771362305, Rate: 20, Slots: 4, Limit: 1, Interruptions: 0.5}}
	m, next := NewModel(Bag{Tasks: 1, Bytes: 0.25, Server: 1}, types), slices.Clone(types)
	next[0].Task, next[0].Slots, next[1].Task, next[1].Slots = 53.84267288660061, 3, 36.15341925621033, 1
	m.Then(NewModel(Bag{Tasks: 1, Bytes: 1.8657684449295748, Transfer: 1e-3, Tail: true, Server: 200}, next))
	same(t, m)
}

// same fails unless the search finds exactly the points of the enumeration.
func same(t interface{ Fatalf(string, ...any) }, m *Model) {
	want := m.enumerate()
	got, _ := m.Search(0)
	if len(got) != len(want) {
		t.Fatalf("%d points, enumeration %d:\n%v\n%v", len(got), len(want), got, want)
	}
	for i := range want {
		if math.Abs(got[i].Cost-want[i].Cost) > 1e-12*want[i].Cost || got[i].Makespan != want[i].Makespan {
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
		b := s.allConfigurations()
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
			b.phases[at].wave = f.oneWave(f.slots(counts)) && rapid.Bool().Draw(t, "one wave")
			if _, rate := f.contention(counts); rapid.Bool().Draw(t, "rate is known") {
				b.phases[at].least = rate / rapid.Float64Range(1, 1.1).Draw(t, "least rate")
				b.phases[at].most = rate * rapid.Float64Range(1, 1.1).Draw(t, "most rate")
			}
		}
		p := m.Evaluate(counts)
		if p.Cost > 0 && rapid.Bool().Draw(t, "known") {
			s.found.add(Point{Makespan: p.Makespan / 2, Cost: p.Cost * (1 + s.epsilon) * 1.001})
		}
		s.slice(p.Makespan*(1-1e-6), p.Makespan*rapid.Float64Range(1.000001, 1.05).Draw(t, "wide"))
		if !s.boundBox(b) || b.least > p.Cost*(1+1e-9) {
			t.Fatalf("%+v is above %+v", b, p)
		}
		for i, n := range counts {
			if n < b.low[i] || n > b.high[i] {
				t.Fatalf("%v is left out of %+v", counts, b)
			}
		}
		for at, f := range m.phases {
			known := b.phases[at]
			start, rate := f.contention(counts)
			if start.Slowed > known.start.Slowed*(1+1e-9) || start.Credit > known.start.Credit+1e-9 {
				t.Fatalf("phase %d of %v: %+v, bound %+v", at, counts, start, known)
			}
			if rate < known.least*(1-1e-9) || rate > known.most*(1+1e-9) || f.server*rate*start.Slowed > known.served*(1+1e-9) {
				t.Fatalf("phase %d of %v does %g tasks/s, bound %+v", at, counts, rate, known)
			}
			if float64(f.slots(counts)) > known.slots*(1+1e-9) {
				t.Fatalf("phase %d of %v has more slots than %+v", at, counts, known)
			}
			if s.shortest(at, counts) < known.tail*(1-1e-9) || known.wave && !f.oneWave(f.slots(counts)) {
				t.Fatalf("phase %d of %v takes %g s after its tasks have begun, bound %+v", at, counts, s.shortest(at, counts), known)
			}
		}
	})
}

// TestWorkOfBox: the linear condition of a box holds for every configuration in it whose makespan is in the slice, with bounds that are as tight as
// these allow, with whatever parts of the time the phases are taken to have, and the server is taken to be the limit.
func TestWorkOfBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawJob(t, 3, 3)
		counts := make([]int, len(m.kinds))
		for i := range counts {
			counts[i] = rapid.IntRange(0, m.kinds[i].Limit).Draw(t, "count")
		}
		if slices.Max(counts) == 0 {
			return
		}
		m.late(t, counts)
		one := m.Evaluate(counts)
		s := m.newSearch(0)
		s.slice(one.Makespan*(1-1e-9), one.Makespan*rapid.Float64Range(1.000001, 1.1).Draw(t, "wide"))
		b := s.whole
		for i, n := range counts {
			b.low[i], b.high[i] = rapid.IntRange(0, n).Draw(t, "low"), rapid.IntRange(n, m.kinds[i].Limit).Draw(t, "high")
		}
		inside := slices.DeleteFunc(m.points(), func(p Point) bool {
			for i, n := range p.Counts {
				if n < b.low[i] || n > b.high[i] {
					return true
				}
			}
			return p.Makespan < s.low || p.Makespan >= s.up
		})
		s.exactly(b, inside)
		for at := range b.phases {
			b.phases[at].share = rapid.Float64Range(0.01, 1).Draw(t, "share")
			b.phases[at].limited = rapid.SampledFrom([]float64{0, 0.5, 1, 1.5}).Draw(t, "limited") * s.up
		}
		s.boundShares(b)
		s.give(b, 0, 1) // the sum of the shares is 1
		cheapest := math.Inf(1)
		for _, p := range inside {
			work := 0.0
			for i, n := range p.Counts {
				work += float64(n) * s.begun[i]
			}
			if work < 1-1e-9 {
				t.Fatalf("%v does %g of the work in %+v", p, work, b)
			}
			cheapest = min(cheapest, p.Cost-m.movedPrice())
		}
		if least, _ := s.sumAtLeast(b, &s.costs); least > cheapest*(1+1e-9) {
			t.Fatalf("%g is above the cheapest, %g", least, cheapest)
		}
	})
}

// late lets machines of some kinds boot when those of the others have done much or all of the work, a little sooner or later.
func (m *Model) late(t *rapid.T, counts []int) {
	others, boots := make([]int, len(counts)), make([]float64, len(counts))
	for i, n := range counts {
		if boots[i] = rapid.SampledFrom([]float64{0, 0, 0.5, 0.99, 1.01, 1.1, 3}).Draw(t, "boot"); boots[i] == 0 {
			others[i] = n
		}
		m.kinds[i].boot = 0
	}
	if slices.Max(others) == 0 {
		return
	}
	makespan := m.Evaluate(others).Makespan
	for i := range m.kinds {
		m.kinds[i].boot = boots[i] * makespan
	}
	slices.SortStableFunc(m.byBoot, func(i, j int) int { return cmp.Compare(m.kinds[i].boot, m.kinds[j].boot) })
}

// exactly sets what is known of the phases of a box to what holds for exactly these configurations.
func (s *search) exactly(b *box, all []Point) {
	for at, f := range s.phases {
		known := &b.phases[at]
		known.start, known.tail, known.most, known.served = rented.Start{}, math.Inf(1), 0, 1e-9
		waves := 0
		for _, p := range all {
			start, rate := f.contention(p.Counts)
			known.start.Slowed, known.start.Credit = max(known.start.Slowed, start.Slowed), max(known.start.Credit, start.Credit)
			known.most, known.served = max(known.most, rate), max(known.served, rate*start.Slowed*f.server)
			known.tail = min(known.tail, s.shortest(at, p.Counts))
			if f.oneWave(f.slots(p.Counts)) {
				waves++
			}
		}
		if known.wave = waves == len(all); !known.wave && waves > 0 {
			known.tail = 0 // they are bounded by their rate alone
		}
	}
}

// shortest returns the tail of a phase or, where all of its tasks begin at once, what it takes when all machines are ready.
func (s *search) shortest(at int, counts []int) float64 {
	f := s.phases[at]
	if f.oneWave(f.slots(counts)) {
		return f.singleWave(counts, math.Inf(1), math.Inf(1)).makespan
	}
	tail, _ := f.tailMoments(counts)
	return tail
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

// later are the phases after the maps of largeBag, with the factor of their task times: of MapReduce jobs with many reduces and with few, and of
// a job in stages.
var later = map[string][]struct {
	tasks  int
	bytes  float64
	factor float64
}{
	"reduces=2000": {{2000, 10e6, 3}},
	"reduces=50":   {{50, 400e6, 10}},
	"stages=4":     {{5000, 10e6, 1}, {300, 0, 5}, {1, 100e6, 1}},
}

// BenchmarkPhases searches the fronts of jobs of several phases.
func BenchmarkPhases(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(later)) {
		for _, size := range []struct {
			types, limit int
			unit         float64
		}{{5, 10, 1}, {10, 10, 1}, {20, 100, 1}, {20, 100, hour}} {
			b.Run(fmt.Sprintf("%s/%dx%d/unit=%g", name, size.types, size.limit, size.unit), func(b *testing.B) {
				for b.Loop() {
					types := catalogue(size.types, size.limit, 1)
					for i := range types {
						types[i].Unit = size.unit
					}
					m := NewModel(largeBag, types)
					for _, p := range later[name] {
						own := slices.Clone(types)
						for i := range own {
							own[i].Task *= p.factor * (0.7 + 0.6*float64(i%3)/2)
						}
						m.Then(NewModel(Bag{Tasks: p.tasks, Bytes: p.bytes, Server: 400e6, Spread: 0.3, Tail: true, Boot: true}, own))
					}
					found, within := m.Search(0.01)
					b.ReportMetric(float64(len(found)), "points")
					b.ReportMetric(within, "within")
				}
			})
		}
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
