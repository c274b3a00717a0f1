package loads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Measured are jobs that were measured on a cluster and are to be simulated.
type Measured struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Node has the resources of each node: cores, memory, and rates of disk and network.
	Node job.Resources `json:"node"`
	Jobs []MeasuredJob `json:"jobs"`
}

// MeasuredJob is one job with equal maps and equal reduces.
type MeasuredJob struct {
	Name    string          `json:"name"`
	Submit  float64         `json:"submit_s"`
	After   int             `json:"after,omitempty"` // number of an earlier job of the list, counted from 1, at whose end this job is submitted; 0: none
	Maps    int             `json:"maps"`
	Reduces int             `json:"reduces"`
	Phases  []MeasuredPhase `json:"phases"`
}

// MeasuredPhase is the mean demand of a task in a phase.
type MeasuredPhase struct {
	Phase   string  `json:"phase"`
	CPU     float64 `json:"cpu_s"`      // core-seconds
	Disk    float64 `json:"disk_bytes"` // read and written on its node
	Net     float64 `json:"net_bytes"`  // for a shuffle: map outputs, including those of its own node
	Memory  int64   `json:"mem_bytes"`  // at its peak
	Seconds float64 `json:"seconds"`    // duration at full speed; 0: follows from the other fields
}

// ParseMeasured parses measured jobs in JSON. where is the name for errors.
func ParseMeasured(where string, text []byte) (*Measured, error) {
	m := new(Measured)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, job.ConfigError(where, "the measured jobs cannot be read: "+err.Error(), "lab/experiments.md describes the format")
	}
	return m, m.check(where)
}

func (m *Measured) check(where string) error {
	wrong := func(format string, args ...any) error {
		return job.ConfigError(where, fmt.Sprintf(format, args...), "")
	}
	if n := m.Node; m.Nodes < 1 || n.CPUs < 1 || n.Mem <= 0 || n.Disk <= 0 || n.Net <= 0 {
		return wrong("nodes need cores, memory and rates of disk and network")
	}
	if len(m.Jobs) == 0 {
		return wrong("there are no jobs")
	}
	last := 0.0
	for i, j := range m.Jobs {
		switch {
		case j.Maps < 1 || j.Reduces < 1:
			return wrong("job %d (%s) has %d maps and %d reduces; both are needed", i+1, j.Name, j.Maps, j.Reduces)
		case j.Submit < last || j.Submit > 1e9:
			return wrong("job %d (%s): its submission time must not be before that of the previous job", i+1, j.Name)
		case j.After < 0 || j.After > i:
			return wrong("job %d (%s) comes after job %d, but no earlier job has this number", i+1, j.Name, j.After)
		}
		last = j.Submit
		for _, p := range j.Phases {
			if _, ok := phaseIndex(p.Phase); !ok {
				return wrong("job %d (%s): %q is not a phase of a map or a reduce", i+1, j.Name, p.Phase)
			}
			for _, v := range []float64{p.CPU, p.Disk, p.Net, float64(p.Memory), p.Seconds} {
				if !(v >= 0 && v < 1e18) {
					return wrong("job %d (%s): %s takes %v", i+1, j.Name, p.Phase, v)
				}
			}
		}
	}
	return nil
}

// mapReducePhases returns the phases of maps, then those of reduces.
func mapReducePhases() []job.Phase { return append(job.MapTask.Phases(), job.ReduceTask.Phases()...) }

func phaseIndex(name string) (int, bool) {
	for i, p := range mapReducePhases() {
		if p.String() == name {
			return i, true
		}
	}
	return 0, false
}

// Elastic returns the jobs. Every node has their data.
func (m *Measured) Elastic() []Job {
	all := make([]int, m.Nodes)
	for i := range all {
		all[i] = i
	}
	jobs := make([]Job, len(m.Jobs))
	for i, j := range m.Jobs {
		var takes [5]Amounts
		for _, p := range j.Phases {
			a := Amounts{CPU: p.CPU, Disk: p.Disk, Net: p.Net, Memory: p.Memory, Least: p.Seconds}
			if p.Seconds > 0 {
				a.Cores = p.CPU / p.Seconds
			}
			k, _ := phaseIndex(p.Phase)
			takes[k] = a
		}
		f := &Phased{}
		e := Job{Elastic: workload.Elastic{ID: int64(i + 1), App: j.Name, Submit: job.Time(math.Round(j.Submit*1000)) * job.Time(time.Millisecond), After: int64(j.After)}, Phased: f}
		maps, reduces := [2]Amounts(takes[:2]), [3]Amounts(takes[2:])
		for range j.Maps {
			f.Maps, f.Splits, f.Homes = append(f.Maps, maps), append(f.Splits, 0), append(f.Homes, all)
			e.Maps = append(e.Maps, lasting(maps[:]))
		}
		for range j.Reduces {
			f.Reduces = append(f.Reduces, reduces)
			e.Reduces = append(e.Reduces, lasting(reduces[1:]))
		}
		setDemand(f, maps, reduces)
		jobs[i] = e
	}
	return jobs
}
