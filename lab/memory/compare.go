package memory

import (
	"math/rand/v2"
	"slices"

	"berth/internal/core/predict/memory"
)

// Row is what a method did on a trace.
type Row struct {
	Trace       string  `json:"trace"`
	Method      string  `json:"method"`       // `user`, `p95`, `tovar`, `witt-std`, `witt-under`, `sizey` or `berth`
	WasteGBh    float64 `json:"waste_gbh"`    // memory that was held and not used, and all that failed tries held, in GB·h
	FailedTries float64 `json:"failed_tries"` // attempts that ran out of memory
	RuntimeH    float64 `json:"runtime_h"`    // of all attempts, in hours
}

// Report is the rows of all traces and methods, in this order. Figures are means over the repetitions.
type Report struct {
	Rows []Row `json:"rows"` // one for each trace and method
}

// known is the share of an application's tasks that are known before the comparison begins, as in the evaluation of Sizey.
const known = 0.3

// Compare runs all methods on the traces, as often as said, each time with other tasks known in advance. An attempt that runs out
// of memory does so at its end.
func Compare(traces []Trace, repetitions int, seed uint64) Report {
	var r Report
	for _, t := range traces {
		for _, m := range Methods {
			row := Row{Trace: t.Name, Method: m.Name}
			for n := range repetitions {
				for i, app := range t.Applications {
					row.add(app, m.New(), rand.New(rand.NewPCG(seed+uint64(n), uint64(i))), float64(repetitions))
				}
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r
}

// add runs the tasks of an application that are not known in advance, in random order.
func (row *Row) add(tasks []Task, m Method, rng *rand.Rand, repetitions float64) {
	order := rng.Perm(len(tasks))
	first := int(known * float64(len(tasks)))
	before := slices.Clone(order[:first])
	slices.Sort(before)
	for _, i := range before {
		m.Learn(tasks[i])
	}
	for _, i := range order[first:] {
		t := tasks[i]
		hours, used := t.Time.Hours()/repetitions, float64(t.Peak)
		shown := t
		shown.Sample = memory.Sample{Size: t.Size}
		given := min(m.First(shown), node)
		for tries := 0; given < used; tries++ {
			row.WasteGBh += max(given, 0) / 1e9 * hours
			row.FailedTries += 1 / repetitions
			row.RuntimeH += hours
			given = min(m.Next(shown, given), node)
			if tries > 50 {
				given = node
			}
		}
		row.WasteGBh += (given - used) / 1e9 * hours
		row.RuntimeH += hours
		m.Learn(t)
	}
}
