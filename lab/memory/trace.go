package memory

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict/memory"
)

// Task is a task of a trace: what it used, and what its user had asked for.
type Task struct {
	memory.Sample
	Asked int64 // bytes
}

// Trace is the tasks of a workflow by application, in the order of their names.
type Trace struct {
	Name         string
	Applications [][]Task // each in the order of the trace
}

// fewest is how many tasks an application must have to be in a comparison, as in the evaluation of Sizey.
const fewest = 34

// Load reads the traces of a folder: files trace_NAME.csv or .csv.gz with the columns of Nextflow's trace report.
func Load(dir string) ([]Trace, error) {
	var all []Trace
	for _, pattern := range []string{"trace_*.csv", "trace_*.csv.gz"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			t, err := read(file)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, job.ArgumentError("--traces", "no file in "+dir+" is called trace_NAME.csv or trace_NAME.csv.gz", "name the folder of the traces")
	}
	slices.SortFunc(all, func(a, b Trace) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func read(file string) (t Trace, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer func() { _ = f.Close() }() // only read
	in := io.Reader(f)
	name, packed := strings.CutSuffix(filepath.Base(file), ".gz")
	if packed {
		if in, err = gzip.NewReader(f); err != nil {
			return t, fmt.Errorf("%s: %w", file, err)
		}
	}
	t.Name = strings.TrimSuffix(strings.TrimPrefix(name, "trace_"), ".csv")
	t.Applications, err = parse(in)
	if err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// columns are those that are read: the application, bytes read, bytes of memory used and asked for, and milliseconds.
var columns = []string{"process", "rchar", "rss", "memory", "realtime"}

// parse reads a trace. As in the evaluation of Sizey, tasks without a measured use are left out, and so are applications
// with few tasks or with tasks that were too short to be measured.
func parse(in io.Reader) ([][]Task, error) {
	r := csv.NewReader(in)
	head, err := r.Read()
	if err != nil {
		return nil, err
	}
	var at [5]int
	for i, name := range columns {
		if at[i] = slices.Index(head, name); at[i] < 0 {
			return nil, fmt.Errorf("it has no column %q", name)
		}
	}
	by, short := make(map[string][]Task), make(map[string]bool)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		var n [4]int64
		measured := true
		for i := range n {
			v, err := strconv.ParseInt(row[at[i+1]], 10, 64)
			n[i], measured = v, measured && err == nil
		}
		name := row[at[0]]
		if !measured || n[1] <= 0 {
			continue
		}
		short[name] = short[name] || n[3] == 0
		by[name] = append(by[name], Task{Sample: memory.Sample{Size: n[0], Peak: n[1], Time: time.Duration(n[3]) * time.Millisecond}, Asked: n[2]})
	}
	names := make([]string, 0, len(by))
	for name, tasks := range by {
		if len(tasks) >= fewest && !short[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := make([][]Task, len(names))
	for i, name := range names {
		all[i] = by[name]
	}
	return all, nil
}
