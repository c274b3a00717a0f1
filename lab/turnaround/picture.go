package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"

	"berth/lab/draw"
)

// highest is the ratio at which the curves of the picture are cut off.
const highest = 4

// drawShares draws turnaround / best of each strategy over the share of situations in which it is no more, beside the page.
func drawShares(docs string, rows []verdict) error {
	c := draw.Chart{X: "share of situations (%)", Y: "turnaround / best", Width: 100, Height: highest}
	for _, st := range strategies {
		var ratios []float64
		for _, v := range rows {
			ratios = append(ratios, math.Min(highest, v.by[st.name].completed()/v.best))
		}
		slices.Sort(ratios)
		s := draw.Series{Name: st.name, Y: ratios, NoMarkers: true}
		for i := range ratios {
			s.X = append(s.X, 100*float64(i+1)/float64(len(ratios)))
		}
		c.Series = append(c.Series, s)
	}
	svg, err := draw.Charts([][]draw.Chart{{c}}).SVG()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(docs), "turnaround.svg"), svg, 0o644)
}
