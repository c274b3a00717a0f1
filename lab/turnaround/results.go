package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// results are all measurements so far, kept in a folder.
type results struct {
	mu  sync.Mutex
	dir string
	all []outcome
}

// openResults reads the results of earlier calls from the folder.
func openResults(dir string) (*results, error) {
	r := &results{dir: dir}
	b, err := os.ReadFile(r.path("json"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r.all)
	}
	if err != nil {
		return nil, fmt.Errorf("earlier results: %w", err)
	}
	return r, nil
}

func (r *results) path(ext string) string { return filepath.Join(r.dir, "results."+ext) }

// done reports whether there is a turnaround of the strategy in the situation.
func (r *results) done(situation, strategy string, nth int) bool {
	return slices.ContainsFunc(r.all, func(o outcome) bool {
		return o.Situation == situation && o.Strategy == strategy && o.Nth == nth && o.Error == ""
	})
}

// put adds outcomes, replacing earlier ones, and writes everything to disk.
func (r *results) put(news ...outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range news {
		r.all = slices.DeleteFunc(r.all, func(old outcome) bool {
			return old.Situation == o.Situation && old.Strategy == o.Strategy && old.Nth == o.Nth
		})
		r.all = append(r.all, o)
	}
	slices.SortStableFunc(r.all, func(x, y outcome) int { return rank(x) - rank(y) })
	b, err := json.MarshalIndent(r.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.path("json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	return r.writeCSV()
}

// rank gives the order of outcomes in the table.
func rank(o outcome) int {
	const most = 1000 // repetitions
	s := slices.IndexFunc(script, func(s situation) bool { return s.name == o.Situation })
	st := slices.IndexFunc(strategies, func(st strategy) bool { return st.name == o.Strategy })
	return (s*len(strategies)+st)*most + o.Nth
}

func (r *results) writeCSV() error {
	f, err := os.Create(r.path("csv"))
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	rows := [][]string{{"situation", "strategy", "nth", "request", "turnaround_s", "wall_s", "wait_s", "run_s", "node_seconds",
		"attempts", "wasted_s", "allocations", "error", "at", "same_as"}}
	for _, o := range r.all {
		rows = append(rows, []string{o.Situation, o.Strategy, strconv.Itoa(o.Nth), o.Request, decimal(o.Turnaround), decimal(o.Wall), decimal(o.Wait),
			decimal(o.Run), decimal(o.Used), strconv.Itoa(o.Attempts), decimal(o.Wasted), o.shapes(), o.Error, o.At, o.SameAs})
	}
	return errors.Join(w.WriteAll(rows), f.Close())
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
