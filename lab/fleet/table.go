package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/lab/paired"
)

// text returns the tables of all turns in the format of the document.
func text(turns []*results) string {
	var b strings.Builder
	of := func(value func(*results) float64) float64 { return over(turns, value) }
	fmt.Fprintf(&b, "\nMedians of the turns. Data server: %.2f MB/s; a task reads %.0f kB and writes %.0f kB.\n\n",
		of(func(r *results) float64 { return r.Server / 1e6 }), of(func(r *results) float64 { return r.Input / 1e3 }), of(func(r *results) float64 { return r.Output / 1e3 }))
	b.WriteString("| type | machines | cores | link, MB/s | a task computes, s | boot, s | price of an hour |\n|---|---|---|---|---|---|---|\n")
	for i, k := range turns[0].Kinds {
		fmt.Fprintf(&b, "| %s | %d | %.2f | %.2f | %.2f | %.2f | %.0f |\n", k.Name, k.Limit, k.Cores, of(func(r *results) float64 { return float64(r.Kinds[i].Rate) / 1e6 }),
			of(func(r *results) float64 { return r.Kinds[i].Task }), of(func(r *results) float64 { return r.Kinds[i].Boot }), k.Price)
	}
	section(&b, "Configurations", turns, func(r *results) []trial { return r.Trials })
	section(&b, "Points of a front", turns, func(r *results) []trial { return r.Points })
	b.WriteByte('\n')
	return b.String()
}

// section writes a table of trials, with a row for each choice of machines, below how far all predictions were off.
func section(b *strings.Builder, name string, turns []*results, of func(*results) []trial) {
	var all []trial
	var each []string
	for _, r := range turns {
		all = append(all, of(r)...)
		each = append(each, fmt.Sprintf("%.1f", 100*typical(of(r), predicted)))
	}
	within := 0
	for _, t := range all {
		if t.Low <= t.Measured && t.Measured <= t.Up {
			within++
		}
	}
	errs := paired.Of(values(all, func(t trial) float64 { return 100 * math.Abs(t.off(t.Predicted)) }))
	fmt.Fprintf(b, "\n%s: median error %.1f %% (%.1f to %.1f), by turn %s %%; of the simple estimate %.1f %%. %d of %d runs are in the predicted 10 to 90 %%.\n\n", name,
		errs.Median, errs.Low, errs.High, strings.Join(each, ", "), 100*typical(all, simple), within, len(all))
	b.WriteString("| machines | tasks | server used | predicted, s | 10 to 90 % | simple estimate, s | measured, s | errors, % | of the simple one | cost predicted | paid |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for len(all) > 0 {
		machines := all[0].Machines
		row(b, slices.DeleteFunc(slices.Clone(all), func(t trial) bool { return t.Machines != machines }))
		all = slices.DeleteFunc(all, func(t trial) bool { return t.Machines == machines })
	}
}

// row writes the trials of one choice of machines: medians, and the error of each.
func row(b *strings.Builder, trials []trial) {
	of := func(value func(trial) float64) float64 { return over(trials, value) }
	var errs []string
	for _, t := range trials {
		errs = append(errs, fmt.Sprintf("%+.1f", 100*t.off(t.Predicted)))
	}
	fmt.Fprintf(b, "| %s | %.0f | %.0f %% | %.1f | %.1f to %.1f | %.1f | %.1f | %s | %+.1f %% | %.2f | %.2f |\n", trials[0].Machines,
		of(func(t trial) float64 { return float64(t.Tasks) }), 100*of(func(t trial) float64 { return t.Use }), of(predicted),
		of(func(t trial) float64 { return t.Low }), of(func(t trial) float64 { return t.Up }), of(simple), of(func(t trial) float64 { return t.Measured }),
		strings.Join(errs, ", "), 100*of(func(t trial) float64 { return t.off(t.Simple) }), of(func(t trial) float64 { return t.Cost }), of(func(t trial) float64 { return t.Paid }))
}

func predicted(t trial) float64 { return t.Predicted }
func simple(t trial) float64    { return t.Simple }

// typical returns the median of the absolute errors.
func typical(trials []trial, of func(trial) float64) float64 {
	return over(trials, func(t trial) float64 { return math.Abs(t.off(of(t))) })
}

// over returns the median of a value.
func over[T any](all []T, value func(T) float64) float64 { return paired.Of(values(all, value)).Median }

func values[T any](all []T, value func(T) float64) (values []float64) {
	for _, x := range all {
		values = append(values, value(x))
	}
	return values
}
