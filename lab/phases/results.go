package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// results are all measurements so far, kept in a folder.
type results struct {
	dir       string
	Node      capacity `json:"node"`
	Machine   int      `json:"machine"`   // cores of the machine that runs all nodes
	SizeMB    int      `json:"size_mb"`   // -size
	Unlimited []string `json:"unlimited"` // what the kernel could not limit
	Runs      []run    `json:"runs"`

	Predicted []prediction `json:"predicted"`
}

// run is one job, or several jobs at once, under a scheduler. Times are seconds since its beginning.
type run struct {
	Scheduler string   `json:"scheduler"`
	Part      string   `json:"part"`
	Repeat    int      `json:"repeat"`
	At        string   `json:"at"`
	Makespan  float64  `json:"makespan_s"`
	Jobs      []jobRun `json:"jobs"`
	Samples   []sample `json:"samples"`
	Error     string   `json:"error"`
}

// jobRun is one job of a run.
type jobRun struct {
	Job       string  `json:"job"`
	Submitted float64 `json:"submitted_s"`
	Ended     float64 `json:"ended_s"`
	Wasted    float64 `json:"wasted_s"`
	Attempts  int     `json:"attempts"` // number of started attempts
	Shuffled  float64 `json:"shuffled"` // bytes of map outputs that reduces read
	// Steps are the records of the job as berth prints them: one, or one for each job of a chain.
	Steps []step `json:"steps"`
	Error string `json:"error"`
}

// step is what berth prints for a job; docs/json.md.
type step struct {
	ID        string    `json:"id"`
	State     string    `json:"state"`
	Submitted time.Time `json:"submitted"`
	Ended     time.Time `json:"ended"`
	Total     int       `json:"tasks_total"`
	Wasted    float64   `json:"wasted_s"`
	Reason    string    `json:"reason"`
	Attempts  struct {
		Started int `json:"started"`
	} `json:"attempts"`
	Phases   []phase                     `json:"phases"`
	Counters map[string]map[string]int64 `json:"counters"`
}

// phase is what berth measured for a phase of a job's tasks: the demands for a simulation.
type phase struct {
	Phase   string  `json:"phase"`
	Total   int     `json:"total"`
	In      int64   `json:"bytes_in"`
	Out     int64   `json:"bytes_out"`
	CPU     float64 `json:"cpu"`      // cores while it ran
	Mem     float64 `json:"mem"`      // bytes at its peak
	Disk    float64 `json:"disk_bps"` // bytes/s
	Net     float64 `json:"net_bps"`  // bytes/s
	CPUs    float64 `json:"cpu_s"`    // seconds of all tasks
	Seconds struct {
		Mean float64 `json:"mean"`
		Max  float64 `json:"max"`
	} `json:"seconds"`
}

// busy is the mean time to which the rates of a phase refer: the time in which the phase had work
// and a processor.
func (p *phase) busy() float64 {
	if p.CPU <= 0 {
		return p.Seconds.Mean
	}
	return p.CPUs / float64(max(1, p.Total)) / p.CPU
}

// moved is the number of bytes of map outputs that the job's reduces read from other nodes.
func (j *jobRun) moved() (bytes float64) {
	for _, s := range j.Steps {
		for _, p := range s.Phases {
			if p.Phase == "shuffle" {
				bytes += p.Net * p.busy() * float64(p.Total)
			}
		}
	}
	return bytes
}

// completion is the time of a job from its submission to its end.
func (j *jobRun) completion() float64 { return j.Ended - j.Submitted }

// parse reads what berth printed for a job, or for the jobs of a chain.
func (j *jobRun) parse(printed []byte, begun time.Time) error {
	for d := json.NewDecoder(bytes.NewReader(printed)); d.More(); {
		var s step
		if err := d.Decode(&s); err != nil {
			return fmt.Errorf("the output of berth cannot be parsed: %w: %q", err, printed)
		}
		if s.State != "done" {
			return fmt.Errorf("%s is %s: %s", s.ID, s.State, s.Reason)
		}
		j.Steps = append(j.Steps, s)
		j.Wasted, j.Attempts = j.Wasted+s.Wasted, j.Attempts+s.Attempts.Started
		j.Shuffled += float64(s.Counters["org.apache.hadoop.mapreduce.TaskCounter"]["REDUCE_SHUFFLE_BYTES"])
	}
	if len(j.Steps) == 0 {
		return errors.New("berth printed nothing")
	}
	j.Submitted = round(j.Steps[0].Submitted.Sub(begun).Seconds())
	j.Ended = round(j.Steps[len(j.Steps)-1].Ended.Sub(begun).Seconds())
	return nil
}

// sum computes the figures of the run from its jobs.
func (r *run) sum() {
	first, last := r.Jobs[0].Submitted, 0.0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.Error != "" {
			r.Error = j.Job + ": " + j.Error
		}
		first, last = min(first, j.Submitted), max(last, j.Ended)
	}
	r.Makespan = round(last - first)
}

// mean is the mean completion of the jobs.
func (r *run) mean() (sum float64) {
	for i := range r.Jobs {
		sum += r.Jobs[i].completion()
	}
	return sum / float64(len(r.Jobs))
}

// openResults reads the results of earlier calls from the folder.
func openResults(dir string) (*results, error) {
	r := &results{dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(r.path())
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err != nil {
		return nil, fmt.Errorf("earlier results: %w", err)
	}
	return r, nil
}

func (r *results) path() string { return filepath.Join(r.dir, "results.json") }

// put adds a run, replacing an earlier one of the same kind, and writes everything to disk.
func (r *results) put(n run) error {
	r.Runs = slices.DeleteFunc(r.Runs, func(old run) bool {
		return old.Scheduler == n.Scheduler && old.Part == n.Part && old.Repeat == n.Repeat && (n.Part != alone || old.Jobs[0].Job == n.Jobs[0].Job)
	})
	r.Runs = append(r.Runs, n)
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(), b, 0o644)
}

// has reports whether a part succeeded under a scheduler in a repetition.
func (r *results) has(scheduler, part, job string, repeat int) bool {
	return slices.ContainsFunc(r.of(scheduler, part, job), func(n run) bool { return n.Repeat == repeat })
}

// of returns the successful runs of a part under a scheduler. job selects a job for the part alone.
func (r *results) of(scheduler, part, job string) []run {
	var found []run
	for _, n := range r.Runs {
		if n.Scheduler == scheduler && n.Part == part && n.Error == "" && (part != alone || n.Jobs[0].Job == job) {
			found = append(found, n)
		}
	}
	return found
}
