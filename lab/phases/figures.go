package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"

	"berth/lab/draw"
)

// The names of the figures, in the folder of the document.
const (
	useFigure   = "phases-use.svg"   // the paper's figures 10 to 12
	batchFigure = "phases-batch.svg" // the paper's figures 15 to 19
)

// compared are the schedulers for which the paper shows the use over time.
var compared = []string{"slots", "containers", ours}

// figures draws the figures for which there are results.
func figures(res *results, dir string) error {
	return errors.Join(write(filepath.Join(dir, useFigure), useCharts(res)), write(filepath.Join(dir, batchFigure), batchCharts(res)))
}

func write(path string, charts [][]draw.Chart) error {
	if len(charts) == 0 {
		return nil
	}
	svg, err := draw.Charts(charts).SVG()
	if err != nil {
		return err
	}
	return os.WriteFile(path, svg, 0o644)
}

// useCharts shows the sort's use of each node over time: a column for each scheduler, a row for each
// resource.
func useCharts(res *results) [][]draw.Chart {
	var columns []string
	for _, s := range compared {
		if len(res.of(s, alone, "sort")) > 0 {
			columns = append(columns, s)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	end := 0.0
	for _, s := range columns {
		samples := res.of(s, alone, "sort")[0].Samples
		end = max(end, samples[len(samples)-1].At)
	}
	var rows [][]draw.Chart
	for _, r := range []struct {
		name string
		of   func(use) float64
	}{
		{"CPU (cores)", func(u use) float64 { return u.CPU }},
		{"memory (MB)", func(u use) float64 { return u.Mem / 1e6 }},
		{"disk (MB/s)", func(u use) float64 { return u.Disk / 1e6 }},
		{"network (MB/s)", func(u use) float64 { return (u.In + u.Out) / 2e6 }},
	} {
		var row []draw.Chart
		top := 0.0
		for _, s := range columns {
			c := draw.Chart{Title: s, X: "s"}
			for node := range nodes {
				c.Series = append(c.Series, overTime(res.of(s, alone, "sort")[0].Samples, node, r.of))
				top = max(top, slices.Max(c.Series[node].Y))
			}
			row = append(row, c)
		}
		row[0].Y = r.name
		for i := range row { // the same axes for all charts
			row[i].Width, row[i].Height = end, top
		}
		rows = append(rows, row)
	}
	return rows
}

func overTime(samples []sample, node int, of func(use) float64) draw.Series {
	s := draw.Series{Name: "node " + string(rune('1'+node)), NoMarkers: true}
	for _, one := range samples {
		s.X, s.Y = append(s.X, one.At), append(s.Y, of(one.Node[node]))
	}
	return s
}

// batchCharts shows the results of the batch under each scheduler.
func batchCharts(res *results) [][]draw.Chart {
	columns := present(res, batch)
	if len(columns) == 0 {
		return nil
	}
	m := batchMeasures(res)
	chart := func(y string, of ...int) draw.Chart {
		c := draw.Chart{Y: y, Ticks: columns}
		for _, k := range of {
			s := draw.Series{Name: m[k].name}
			for i, scheduler := range columns {
				if v := each(res.of(scheduler, batch, ""), m[k].of); !math.IsNaN(v.mean) {
					s.X, s.Y, s.Half = append(s.X, float64(i+1)), append(s.Y, v.mean), append(s.Half, v.half)
				}
			}
			c.Series = append(c.Series, s)
		}
		return c
	}
	return [][]draw.Chart{{chart("s", 0, 1)}, {chart("%", 2, 4, 5, 6)}}
}
