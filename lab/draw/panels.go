package draw

import (
	"math"
	"slices"
	"strconv"

	"berth/internal/simulate/workload"
	"berth/lab/evaluate"
)

// The labels of the x axes.
const hpcEvery, mrEvery = "mean inter-arrival, HPC (s)", "mean inter-arrival, MR (s)"

// Report returns the figure of a report, or nil if the report is only a table.
func Report(r *evaluate.Report) *Figure {
	f := &Figure{}
	switch r.Experiment {
	case "fig3":
		f.panels = binPanels(r)
	case "fig4":
		f.panels = loadPanels(r)
	case "variants":
		f.panels = [][]panel{{
			panelOf(r, "MapReduce jobs alone", mrEvery, turnaroundOf(evaluate.OnlyMR, evaluate.MRInterarrival, evaluate.MRJobs)),
			panelOf(r, "MapReduce jobs in the mix", mrEvery, turnaroundOf(evaluate.Mixed, evaluate.MRInterarrival, evaluate.MRJobs)),
			panelOf(r, "HPC jobs in the mix", mrEvery, turnaroundOf(evaluate.Mixed, evaluate.MRInterarrival, evaluate.HPCJobs)),
		}}
	default:
		return nil
	}
	for _, c := range r.Cases {
		f.names, f.styles = append(f.names, c.Label), append(f.styles, styleOf(c.Name))
	}
	for i := range f.panels {
		for j := range f.panels[i][1:] {
			f.panels[i][j+1].y = "" // the first panel of the row has the label
		}
	}
	return f
}

// binPanels is figure 3: the bins side by side.
func binPanels(r *evaluate.Report) [][]panel {
	p := panelOf(r, "", "bin of the Facebook mix", func(c *evaluate.Cell) bool { return c.Wanted })
	for n := range workload.FacebookBins {
		p.ticks = append(p.ticks, strconv.Itoa(n+1))
	}
	return [][]panel{{p}}
}

// loadPanels is figure 4: one row for part (a) and one for part (b), if they have cells.
func loadPanels(r *evaluate.Report) [][]panel {
	var rows [][]panel
	for _, part := range []struct{ name, x, mark string }{{evaluate.HPCInterarrival, hpcEvery, "(a) "}, {evaluate.MRInterarrival, mrEvery, "(b) "}} {
		of := func(title string, jobs evaluate.Jobs) panel {
			return panelOf(r, part.mark+title, part.x, turnaroundOf(evaluate.Mixed, part.name, jobs))
		}
		row := []panel{of("MapReduce jobs", evaluate.MRJobs), of("HPC jobs", evaluate.HPCJobs), of("all jobs", evaluate.AllJobs)}
		if len(row[0].curves) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func turnaroundOf(load, parameter string, jobs evaluate.Jobs) func(*evaluate.Cell) bool {
	return func(c *evaluate.Cell) bool {
		return c.Load == load && c.Parameter == parameter && c.Jobs == jobs && c.Measure == evaluate.Turnaround
	}
}

// spread is the ratio of means from which on an axis is logarithmic.
const spread = 15

// panelOf draws the cells for which belongs returns true, with a curve for each case.
func panelOf(r *evaluate.Report, title, x string, belongs func(*evaluate.Cell) bool) panel {
	p := panel{title: title, x: x, y: "mean turnaround (s)"}
	low, high := math.Inf(1), 0.0
	for n, c := range r.Cases {
		one := curve{style: n}
		for i := range r.Cells {
			cell := &r.Cells[i]
			if cell.Adaptor != c.Name || !belongs(cell) {
				continue
			}
			pt := point{x: cell.Value, y: cell.Mean}
			if cell.HalfWidth != nil {
				pt.half = *cell.HalfWidth
			}
			one.points = append(one.points, pt)
			low, high = min(low, pt.y), max(high, pt.y)
		}
		if len(one.points) > 0 {
			slices.SortFunc(one.points, func(a, b point) int { return int(math.Copysign(1, a.x-b.x)) })
			p.curves = append(p.curves, one)
		}
	}
	p.log = low > 0 && high/low > spread
	return p
}
