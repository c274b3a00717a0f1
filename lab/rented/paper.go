// Package rented repeats the evaluation of Dumitru et al., "A Queuing Theory Approach to Pareto Optimal Bags-of-Tasks Scheduling on Clouds":
// figures 3, 4 and 5, with its instance types, its 1,500 pictures and its billing by the hour. Runs are simulated (rentedsim). The paper prints
// neither the times of its tasks nor the capacity of its data server; settings have what is assumed for them.
package rented

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"berth/internal/core/plan/front"
	network "berth/internal/core/predict/rented"
	"berth/test/support/rentedsim"
)

// Setting is what the paper does not print.
type Setting struct {
	Name   string  `json:"name"`
	Server float64 `json:"server"`  // bytes a second of the data server
	Link   float64 `json:"link"`    // bytes a second of a machine of type m1.m or c1.m; m1.s has half of it
	Fast   float64 `json:"c1m_ecu"` // ECU that a task gets on c1.m
	Tasks  Tasks   `json:"tasks"`   // computing time of a task on one ECU
}

// Tasks are the seconds that a task of each application computes on one ECU.
type Tasks struct {
	ImageMagick float64 `json:"imagemagick_s"`
	OpenJpeg    float64 `json:"openjpeg_s"`
}

// Settings are the assumptions that are compared.
var Settings = []Setting{
	{"table 1: a task uses both cores of c1.m, 5 ECU", 35e6, 20e6, 5, Tasks{15, 60}},
	{"a task uses one core: 2.5 ECU of c1.m", 60e6, 40e6, 2.5, Tasks{10, 20}},
	{"c1.m has 1.6 ECU for a task, as figure 3 needs", 60e6, 40e6, 1.6, Tasks{10, 20}},
}

// Spread is the standard deviation of task times divided by their mean, of the simulated runs.
const Spread = 0.3

// runs is how often each configuration is simulated, and saturates the least ratio of the predicted makespan to the simple one at which a
// configuration counts as saturating the server.
const runs, saturates = 10, 1.1

// Row is a schedule with its estimates.
type Row struct {
	Machines string  `json:"machines"`   // type:number of each type
	Executed float64 `json:"executed_s"` // mean makespan of simulated runs
	MVA      float64 `json:"mva_s"`      // makespan by the paper's formula
	Berth    float64 `json:"berth_s"`    // by that of `berth front`
	Simple   float64 `json:"simple_s"`   // as if the data server had no limit
	Use      float64 `json:"server_use"` // used fraction of the data server's capacity, 0 to 1
	Cost     float64 `json:"cost"`       // in dollars, paid by the hour
}

// App is what the figures have of an application.
type App struct {
	Name      string  `json:"name"`
	Large     []Row   `json:"figure3"`                    // schedules of 30 machines of a type
	Points    int     `json:"figure4_points"`             // points of the front
	Choices   int     `json:"figure4_choices"`            // all configurations
	Equal     bool    `json:"figure4_equals_enumeration"` // the front has the points that all configurations give
	Tipping   float64 `json:"tipping_cost"`               // in dollars, paid by the hour
	BySecond  float64 `json:"tipping_cost_by_second"`     // the same, paid by the second
	Schedules []Row   `json:"figure5"`                    // from the cheapest to the tipping point
}

// Result is the evaluation under a setting.
type Result struct {
	Setting Setting `json:"setting"`      // the assumption
	Apps    []App   `json:"applications"` // ImageMagick and OpenJpeg
}

// Report is the evaluation under each of the settings.
type Report struct {
	Results []Result `json:"results"` // one for each assumption about what the paper does not print
}

// Repeat repeats the figures under all settings.
func Repeat() (r Report) {
	for _, s := range Settings {
		r.Results = append(r.Results, Evaluate(s))
	}
	return r
}

var names, prices = []string{"m1.s", "m1.m", "c1.m"}, []float64{0.065, 0.130, 0.165} // 0.65 of m1.s is a misprint of table 1

// limit and large are the numbers of machines of a type in the front and in figure 3.
const limit, large = 10, 30

func (s *Setting) types(task, unit float64, most int) (types []front.Type) {
	for i, ecu := range []float64{1, 2, s.Fast} {
		types = append(types, front.Type{Name: names[i], Price: prices[i], Unit: unit, Task: task / ecu, Rate: s.Link / []float64{2, 1, 1}[i], Slots: 1, Limit: most})
	}
	return types
}

// bag returns the paper's 1,500 frames.
func (s *Setting) bag(tail bool) front.Bag {
	return front.Bag{Tasks: 1500, Bytes: 23.3e6, Server: s.Server, Spread: Spread, Tail: tail}
}

// Evaluate repeats the figures under a setting.
func Evaluate(s Setting) Result {
	return Result{s, []App{s.app("ImageMagick", s.Tasks.ImageMagick), s.app("OpenJpeg", s.Tasks.OpenJpeg)}}
}

func (s *Setting) app(name string, task float64) App {
	const hour = 3600
	a := App{Name: name}
	for i := range names {
		counts := make([]int, len(names))
		counts[i] = large
		a.Large = append(a.Large, s.row(task, counts))
	}
	types := s.types(task, hour, limit)
	m := front.NewModel(s.bag(false), types)
	set, _ := m.Search(0)
	all := enumerate(m, len(names))
	a.Points, a.Choices, a.Equal = len(set), len(all), equal(set, all)
	var costs []float64
	for _, p := range slices.Backward(set) {
		costs = append(costs, p.Cost)
	}
	tip := set.Tipping()
	a.Tipping = set[tip].Cost
	for _, i := range Spaced(costs, len(set)-1-tip, 4) {
		a.Schedules = append(a.Schedules, s.row(task, set[len(set)-1-i].Counts))
	}
	seconds, _ := front.NewModel(s.bag(false), s.types(task, 1, limit)).Search(0)
	a.BySecond = seconds[seconds.Tipping()].Cost
	return a
}

// Spaced returns n points of a front whose costs rise, as the paper chose those that it ran: the cheapest, the tipping point, and others that
// divide the range of cost between them into equal parts.
func Spaced(costs []float64, tipping, n int) (chosen []int) {
	for i := range n {
		want := costs[0] + (costs[tipping]-costs[0])*float64(i)/float64(n-1)
		best := 0
		for j := range tipping + 1 {
			if math.Abs(costs[j]-want) < math.Abs(costs[best]-want) {
				best = j
			}
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// enumerate evaluates all configurations, as the paper did.
func enumerate(m *front.Model, types int) (all []front.Point) {
	for code := 1; code < pow(limit+1, types); code++ {
		counts, rest := make([]int, types), code
		for i := range counts {
			counts[i], rest = rest%(limit+1), rest/(limit+1)
		}
		all = append(all, m.Evaluate(counts))
	}
	return all
}

func pow(x, n int) int { return int(math.Pow(float64(x), float64(n)) + 0.5) }

// equal reports whether a front is that of all points, sorted anew; costs that differ by rounding are equal.
func equal(set front.Set, all []front.Point) bool {
	slices.SortFunc(all, func(a, b front.Point) int {
		return cmp.Or(cmp.Compare(math.Round(a.Cost*1e9), math.Round(b.Cost*1e9)), cmp.Compare(a.Makespan, b.Makespan))
	})
	i, fastest := len(set)-1, math.Inf(1)
	for _, p := range all {
		if p.Makespan >= fastest {
			continue
		}
		if fastest = p.Makespan; i < 0 || set[i].Makespan != p.Makespan || math.Abs(set[i].Cost-p.Cost) > 1e-9 {
			return false
		}
		i--
	}
	return i < 0
}

// row estimates a schedule, and simulates it.
func (s *Setting) row(task float64, counts []int) Row {
	types := s.types(task, 3600, large)
	tail := front.NewModel(s.bag(true), types).Evaluate(counts)
	n := network.Network{Server: s.bag(true).Bytes / s.Server}
	sim := rentedsim.System{Server: n.Server, Spread: Spread, Tasks: s.bag(true).Tasks, Rng: rand.New(rand.NewPCG(1, 1))}
	r := Row{Berth: tail.Makespan, Simple: front.NewModel(s.bag(false), types).Evaluate(counts).Simple, Use: tail.Use}
	compute, transfer := 0.0, 0.0
	var parts []string
	for i, t := range types {
		for range counts[i] {
			own := math.Max(s.bag(true).Bytes/t.Rate, n.Server)
			sim.Compute, sim.Transfer = append(sim.Compute, t.Task), append(sim.Transfer, own)
			compute, transfer = compute+1/t.Task, transfer+1/own
		}
		if counts[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", t.Name, counts[i]))
		}
	}
	n.Machines = len(sim.Compute)
	n.Compute, n.Transfer = float64(n.Machines)/compute, float64(n.Machines)/transfer
	r.MVA = float64(sim.Tasks) / n.Solve().Throughput
	for i, t := range types {
		r.Cost += float64(counts[i]) * t.Bill(r.MVA)
	}
	for range runs {
		r.Executed += sim.Makespan() / runs
	}
	r.Machines = strings.Join(parts, ", ")
	return r
}
