package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// text returns the tables in the format of the document.
func (r *results) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nData server: %.2f MB/s; a task reads %.0f kB and writes %.0f kB.\n\n", r.Server/1e6, r.Input/1e3, r.Output/1e3)
	b.WriteString("| type | machines | cores | link, MB/s | a task computes, s | boot, s | price of an hour |\n|---|---|---|---|---|---|---|\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "| %s | %d | %.2f | %.2f | %.2f | %.2f | %.0f |\n", k.Name, k.Limit, k.Cores, float64(k.Rate)/1e6, k.Task, k.Boot, k.Price)
	}
	fmt.Fprintf(&b, "\nConfigurations: median error %.1f %%, of the simple estimate %.1f %%.\n\n", 100*median(r.Trials, predicted), 100*median(r.Trials, simple))
	table(&b, r.Trials)
	fmt.Fprintf(&b, "\nPoints of one front: median error %.1f %%.\n\n", 100*median(r.Points, predicted))
	table(&b, r.Points)
	b.WriteByte('\n')
	return b.String()
}

func table(b *strings.Builder, trials []trial) {
	b.WriteString("| machines | tasks | server used | predicted, s | 10 to 90 % | simple estimate, s | measured, s | error | of the simple one | cost predicted | paid |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range trials {
		fmt.Fprintf(b, "| %s | %d | %.0f %% | %.1f | %.1f to %.1f | %.1f | %.1f | %+.1f %% | %+.1f %% | %.2f | %.2f |\n", t.Machines, t.Tasks, 100*t.Use, t.Predicted, t.Low, t.Up,
			t.Simple, t.Measured, 100*t.off(t.Predicted), 100*t.off(t.Simple), t.Cost, t.Paid)
	}
}

func predicted(t trial) float64 { return t.Predicted }
func simple(t trial) float64    { return t.Simple }

// median returns the median of the absolute errors.
func median(trials []trial, of func(trial) float64) float64 {
	var all []float64
	for _, t := range trials {
		all = append(all, math.Abs(t.off(of(t))))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
