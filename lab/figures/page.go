package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/lab/draw"
)

// past is a value of figures.csv.
type past struct{ figure, text, measured string }

const (
	shown   = 3 // number of values beside the last one
	tallest = 3 // times the target; what is farther is drawn there
)

// writePage reads the figures of all pages, adds new values to figures.csv, and writes figures.md and figures.svg.
func writePage(dir string) error {
	history := filepath.Join(dir, "figures.csv")
	all, err := readHistory(history)
	if err != nil {
		return err
	}
	for _, f := range figures {
		if v, ok := f.read(dir); ok {
			all = remember(all, past{f.name, v.text, v.measured})
		}
	}
	svg, err := picture(all).SVG()
	if err != nil {
		return err
	}
	return errors.Join(writeHistory(history, all), os.WriteFile(filepath.Join(dir, "figures.svg"), svg, 0o644),
		os.WriteFile(filepath.Join(dir, "figures.md"), []byte(text(all)), 0o644))
}

// remember appends a value unless the last one of its figure is the same measurement.
func remember(all []past, p past) []past {
	if last := of(all, p.figure); len(last) > 0 && last[len(last)-1] == p {
		return all
	}
	return append(all, p)
}

// of returns the values of a figure, the last one at the end.
func of(all []past, figure string) (its []past) {
	for _, p := range all {
		if p.figure == figure {
			its = append(its, p)
		}
	}
	return its
}

func readHistory(file string) (all []past, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 3
	rows, err := r.ReadAll()
	for _, row := range rows {
		all = append(all, past{row[0], row[1], row[2]})
	}
	return all, err
}

func writeHistory(file string, all []past) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	for _, p := range all {
		_ = w.Write([]string{p.figure, p.text, p.measured}) // Flush reports the error
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

const preface = `# Figures beside their targets

` + "`make figures`" + ` writes this page from the tables of the other pages of results, after it has run what writes those
(` + "`make figures FIGURES=-page`" + `: from the tables as they are). Where a figure was measured, when and under which load is
in its page. The picture shows each figure relative to its target, by its number: up to 1 meets it.

![figures relative to their targets](figures.svg)

`

// text is the page.
func text(all []past) string {
	var b strings.Builder
	b.WriteString(preface + between(all) + "| | figure | target | last value | met | measured | values before, the newest first |\n|--:|---|---|---|---|---|---|\n")
	for i, f := range figures {
		its := of(all, f.name)
		last, met, when, before := "not measured", "", "", []string{}
		if len(its) > 0 {
			p := its[len(its)-1]
			last, when = p.text, date(p.measured)
			if x, ok := f.number(p.text); ok && f.met(x) {
				met = "yes"
			} else {
				met = "**no**"
			}
		}
		for k := len(its) - 2; k >= max(0, len(its)-1-shown); k-- {
			before = append(before, its[k].text)
		}
		fmt.Fprintf(&b, "| %d | [%s](%s.md) | %s | %s | %s | %s | %s |\n", i+1, f.name, f.page, f.wanted(), last, met, when, strings.Join(before, "; "))
	}
	return b.String()
}

// between returns the line with the first and the last day of the last values.
func between(all []past) string {
	var days []string
	for _, f := range figures {
		if its := of(all, f.name); len(its) > 0 {
			for _, m := range origin.FindAllStringSubmatch(its[len(its)-1].measured, -1) {
				days = append(days, m[1])
			}
		}
	}
	if len(days) == 0 {
		return ""
	}
	return fmt.Sprintf("Measured %s to %s.\n\n", slices.Min(days), slices.Max(days))
}

var origin = regexp.MustCompile(`(20\d\d-\d\d-\d\d)(?: with commit (\w+(?: and changes)?))?`)

// date returns the dates and commits of a line on where something was measured.
func date(measured string) string {
	var all []string
	for _, m := range origin.FindAllStringSubmatch(measured, -1) {
		all = append(all, strings.TrimSuffix(m[1]+", "+m[2], ", "))
	}
	if len(all) == 0 {
		return "date unknown"
	}
	return strings.Join(slices.Compact(all), "; ")
}

// picture shows the last and the earlier values relative to the targets.
func picture(all []past) *draw.Figure {
	c := draw.Chart{X: "number of the figure in the table", Y: "relative to the target", Height: 1.2}
	last, before := draw.Series{Name: "last value"}, draw.Series{Name: "values before"}
	for i, f := range figures {
		c.Ticks = append(c.Ticks, fmt.Sprint(i+1))
		its := of(all, f.name)
		its = its[max(0, len(its)-1-shown):]
		for k, p := range its {
			x, ok := f.number(p.text)
			if !ok {
				continue
			}
			s := &before
			if k == len(its)-1 {
				s = &last
			}
			s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, min(f.relative(x), tallest))
		}
	}
	target := draw.Series{Name: "target"}
	for i := range figures {
		target.X, target.Y = append(target.X, float64(i+1)), append(target.Y, 1)
	}
	c.Series = []draw.Series{target, last, before}
	return draw.Charts([][]draw.Chart{{c}})
}
