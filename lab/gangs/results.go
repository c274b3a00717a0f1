package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/lab/paired"
)

// measurement is one run.
type measurement struct {
	Side       string  `json:"side"`
	Repetition int     `json:"repetition"`
	Makespan   float64 `json:"makespan"` // seconds from the first begin of a task to the last end
	Work       float64 `json:"work"`     // core-seconds of all tasks
}

// utilization is the share of the best packing, which leaves no core unused.
func (m measurement) utilization() float64 { return m.Work / (nodes * cores) / m.Makespan }

// results are measurements in a file, a line of JSON each.
type results struct {
	path string
	all  []measurement
}

func openResults(dir string) (*results, error) {
	r := &results{path: filepath.Join(dir, "results.jsonl")}
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
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
	return slices.ContainsFunc(r.all, func(x measurement) bool { return x.Side == m.Side && x.Repetition == m.Repetition })
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
	fmt.Fprintf(os.Stderr, "%+v: %.1f %%\n", m, 100*m.utilization())
	_, err = f.Write(append(line, '\n'))
	return err
}

// of returns the measurements of a side, in the order of their repetitions.
func (r *results) of(side string) (all []measurement) {
	for _, m := range r.all {
		if m.Side == side {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(x, y measurement) int { return x.Repetition - y.Repetition })
	return all
}

// table has a row for each side. Ratios and differences are those of the runs of one repetition.
func (r *results) table() string {
	var b strings.Builder
	b.WriteString("| side | makespan, s | of the best packing | berth's makespan / this one | median difference, 95 % interval |\n|---|--:|--:|--:|--:|\n")
	ours := r.of(sides[0].name)
	for i, s := range sides {
		var spans, used, ratios, differences []float64
		for _, m := range r.of(s.name) {
			spans, used = append(spans, m.Makespan), append(used, 100*m.utilization())
			if k := slices.IndexFunc(ours, func(o measurement) bool { return o.Repetition == m.Repetition }); k >= 0 && i > 0 {
				ratios = append(ratios, ours[k].Makespan/m.Makespan)
				differences = append(differences, ratios[len(ratios)-1]-1)
			}
		}
		if len(spans) == 0 {
			continue
		}
		row := []string{s.name, list("%.1f", spans), list("%.1f %%", used), list("%.3f", ratios), ""}
		if i > 0 {
			row[4] = paired.Of(differences).String()
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

// list writes the median of values, and behind it all of them.
func list(format string, values []float64) string {
	if len(values) == 0 {
		return ""
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprintf(format, v)
	}
	return fmt.Sprintf(format, paired.Of(values).Median) + ": " + strings.Join(words, ", ")
}
