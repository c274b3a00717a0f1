package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/lab/draw"
	"berth/lab/paired"
)

// measurement is one run of a workflow, or one of a map.
type measurement struct {
	What       string    `json:"what"`
	Engine     string    `json:"engine"`
	Side       string    `json:"side,omitempty"`
	Repetition int       `json:"repetition"`
	Load       float64   `json:"load"`
	Seconds    float64   `json:"seconds"`
	BatchJobs  int       `json:"batch_jobs,omitempty"`
	Done       []float64 `json:"done_s,omitempty"` // when its jobs ended
}

// results are measurements in a file, a line of JSON each.
type results struct {
	path string
	all  []measurement
}

func openResults(dir string) (*results, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	r := &results{path: filepath.Join(dir, "results.jsonl")}
	f, err := os.OpenFile(r.path, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m measurement
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
		r.all = append(r.all, m)
	}
	return r, lines.Err()
}

func (r *results) has(m measurement) bool {
	return slices.ContainsFunc(r.all, func(x measurement) bool {
		return x.What == m.What && x.Engine == m.Engine && x.Side == m.Side && x.Repetition == m.Repetition
	})
}

func (r *results) add(m measurement) error {
	r.all = append(r.all, m)
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	m.Done = nil
	fmt.Fprintf(os.Stderr, "%+v\n", m)
	_, err = f.Write(append(line, '\n'))
	return err
}

// of returns the measurements of one kind, in the order of their repetitions.
func (r *results) of(what, engine, side string) (all []measurement) {
	for _, m := range r.all {
		if m.What == what && m.Engine == engine && m.Side == side {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(x, y measurement) int { return x.Repetition - y.Repetition })
	return all
}

// whats returns what was measured with an engine, as it was first measured.
func (r *results) whats(engine string) (all []string) {
	for _, m := range r.all {
		if m.Engine == engine && !slices.Contains(all, m.What) {
			all = append(all, m.What)
		}
	}
	return all
}

// tables returns the tables of workflows and of maps. Ratios are those of the runs of one repetition.
func (r *results) tables() string {
	var b strings.Builder
	b.WriteString("| engine | workflow | executor | makespan, s | least, s | batch jobs | load before | makespan, berth's / its own | median difference, 95 % interval | least / its own | batch jobs, berth's / its own |\n")
	b.WriteString("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, e := range engines {
		for _, w := range r.whats(e.name) {
			for _, s := range e.sides {
				r.row(&b, e.name, w, r.of(w, e.name, s.name), r.of(w, e.name, itself))
			}
		}
	}
	maps := r.whats("maps")
	if len(maps) == 0 {
		return b.String()
	}
	b.WriteString("\n| measured | each repetition | load before |\n|---|--:|--:|\n")
	for _, w := range maps {
		all := r.of(w, "maps", "")
		fmt.Fprintf(&b, "| %s | %s | %s |\n", w, list(all, func(m measurement) string { return seconds(m.Seconds) }), list(all, loadOf))
	}
	return b.String()
}

func (r *results) row(b *strings.Builder, engine, what string, all, own []measurement) {
	if len(all) == 0 {
		return
	}
	ratio := func(part, of func(measurement) float64) string {
		var words []string
		var ratios []float64
		if all[0].Side == itself {
			return ""
		}
		for i := range min(len(all), len(own)) {
			ratios = append(ratios, part(all[i])/of(own[i]))
			words = append(words, fmt.Sprintf("%.3g", ratios[i]))
		}
		if len(words) < 2 {
			return strings.Join(words, "")
		}
		return fmt.Sprintf("median %.3g: %s", paired.Of(ratios).Median, strings.Join(words, ", "))
	}
	var differences []float64
	for i := range min(len(all), len(own)) {
		differences = append(differences, all[i].Seconds/own[i].Seconds-1)
	}
	gain := paired.Of(differences).String()
	if all[0].Side == itself {
		gain = ""
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %.0f | %s | %s | %s | %s | %s | %s |\n", engine, what, all[0].Side,
		list(all, func(m measurement) string { return fmt.Sprintf("%.1f", m.Seconds) }), least(what),
		list(all, func(m measurement) string { return fmt.Sprint(m.BatchJobs) }), list(all, loadOf),
		ratio(makespan, makespan), gain, ratio(func(measurement) float64 { return least(what) }, makespan), ratio(jobs, jobs))
}

func makespan(m measurement) float64 { return m.Seconds }

func jobs(m measurement) float64 { return float64(m.BatchJobs) }

func list(all []measurement, of func(measurement) string) string {
	var words []string
	for _, m := range all {
		words = append(words, of(m))
	}
	return strings.Join(words, ", ")
}

func loadOf(m measurement) string { return fmt.Sprintf("%.1f", m.Load) }

// seconds writes a time with its unit.
func seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 0.1:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}

// figure shows how many jobs were done at what time: a row for each engine, a chart for each workflow.
func (r *results) figure() *draw.Figure {
	var rows [][]draw.Chart
	for _, e := range engines {
		var row []draw.Chart
		for _, w := range r.whats(e.name) {
			c := draw.Chart{Title: e.name + ": " + w, X: "seconds since the command", Y: "jobs done"}
			for _, side := range e.sides {
				for _, m := range r.of(w, e.name, side.name)[:min(1, len(r.of(w, e.name, side.name)))] { // one repetition shows enough
					s := draw.Series{Name: side.name, NoMarkers: true, X: []float64{0}, Y: []float64{0}}
					for k, at := range m.Done {
						s.X, s.Y = append(s.X, at), append(s.Y, float64(k+1))
					}
					c.Series = append(c.Series, s)
				}
			}
			row = append(row, c)
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	return draw.Charts(rows)
}
