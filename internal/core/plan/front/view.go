package front

import "slices"

// View is the JSON form of a front, the cheapest point first. Keys are only added to it.
type View struct {
	Front   []Point `json:"front"`            // choices that no other one beats in both cost and makespan
	Tipping int     `json:"tipping"`          // index of the point from which on more money buys little time; −1 without points
	Chosen  *int    `json:"chosen,omitempty"` // index of the point within `--budget` and `--deadline`
	Epsilon float64 `json:"epsilon"`          // bound on the error, as a fraction of cost and makespan; 0: the front is exact
}

// View returns the JSON form of a set.
func (m *Model) View(s Set, epsilon float64) View {
	v := View{Front: []Point{}, Tipping: -1, Epsilon: epsilon}
	for _, p := range slices.Backward(s) {
		p.Machines = map[string]int{}
		for i, n := range p.Counts {
			if n > 0 {
				p.Machines[m.kinds[i].Name] = n
			}
		}
		v.Front = append(v.Front, p)
	}
	if t := s.Tipping(); t >= 0 {
		v.Tipping = len(s) - 1 - t
	}
	return v
}

// shown is the largest number of points that are shown to people besides the marked ones.
const shown = 30

// Shown returns the indices of the points that are shown to people: all of a short front; of a long one the marked points
// and others, evenly spaced.
func (v *View) Shown() []int {
	var rows []int
	last := len(v.Front) - 1
	for i := range v.Front {
		if last < shown || i == 0 || i == v.Tipping || v.Chosen != nil && i == *v.Chosen || i*(shown-1)/last != (i-1)*(shown-1)/last {
			rows = append(rows, i)
		}
	}
	return rows
}

// Choose sets the chosen point of a budget and a deadline (seconds), 0 for none: the cheapest within the deadline,
// else the fastest within the budget. It returns false where there is none.
func (v *View) Choose(s Set, budget, deadline float64) bool {
	i := s.Within(budget, deadline)
	if i < 0 {
		return false
	}
	at := len(s) - 1 - i
	v.Chosen = &at
	return true
}
