package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// results are all measurements so far, kept in a folder.
type results struct {
	dir      string
	Nodes    int     `json:"nodes"`
	Cores    float64 `json:"cores"`   // of a node
	Machine  int     `json:"machine"` // cores of the machine
	Tasks    int     `json:"tasks"`
	Work     float64 `json:"work_s"` // CPU seconds of a task
	Slow     int     `json:"slow"`   // number of nodes that become slow in a turn
	Progress string  `json:"progress"`
	Runs     []run   `json:"runs"`
}

// run is a job under a rule. Times are in seconds.
type run struct {
	Job         string       `json:"job"`
	Rule        string       `json:"rule"`
	Repeat      int          `json:"repeat"`
	Episodes    []episode    `json:"episodes"`
	Completion  float64      `json:"completion_s"` // of all stages, from the start of the command to its end
	Operation   float64      `json:"operation_s"`  // of the operation, from its first attempt to its end
	CPU         float64      `json:"cpu_s"`        // of workers and tasks
	Tasks       int          `json:"tasks"`        // of the operation, like the following fields
	Attempts    int          `json:"attempts"`
	Killed      int          `json:"killed"`
	Failed      int          `json:"failed"` // includes lost ones
	Wasted      float64      `json:"wasted_s"`
	Took        []float64    `json:"took_s"` // durations of the successful attempts
	Predictions []prediction `json:"predictions"`
	Error       string       `json:"error"`
}

func openResults(dir string) (*results, error) {
	r := &results{dir: dir}
	b, err := os.ReadFile(r.path())
	if errors.Is(err, fs.ErrNotExist) {
		return r, os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(b, r)
}

func (r *results) path() string { return filepath.Join(r.dir, "results.json") }

func (r *results) has(job, rule string, repeat int) bool {
	for _, n := range r.Runs {
		if n.Job == job && n.Rule == rule && n.Repeat == repeat && n.Error == "" {
			return true
		}
	}
	return false
}

// add adds a run and writes everything to disk.
func (r *results) add(n run) error {
	r.Runs = append(r.Runs, n)
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(), b, 0o644)
}
