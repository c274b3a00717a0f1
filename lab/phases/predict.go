package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prediction is the simulated result of a run: the mean completion of its jobs, and the makespan.
type prediction struct {
	Part      string  `json:"part"`
	Job       string  `json:"job"` // for a run of one job
	Scheduler string  `json:"scheduler"`
	Mean      float64 `json:"mean_completion_s"`
	Makespan  float64 `json:"makespan_s"`
}

// simulated is the input of "berth-lab phases --measured"; lab/experiments.md.
type simulated struct {
	Name  string         `json:"name"`
	Nodes int            `json:"nodes"`
	Node  simulatedNode  `json:"node"`
	Jobs  []simulatedJob `json:"jobs"`
}

type simulatedNode struct {
	CPUs int   `json:"cpus"`
	Mem  int64 `json:"mem_bytes"`
	Disk int64 `json:"disk_bps"`
	Net  int64 `json:"net_bps"`
}

type simulatedJob struct {
	Name    string           `json:"name"`
	Submit  float64          `json:"submit_s"`
	After   int              `json:"after,omitempty"`
	Maps    int              `json:"maps"`
	Reduces int              `json:"reduces"`
	Phases  []simulatedPhase `json:"phases"`
}

type simulatedPhase struct {
	Phase string  `json:"phase"`
	CPU   float64 `json:"cpu_s"`
	Disk  float64 `json:"disk_bytes"`
	Net   float64 `json:"net_bytes"`
	Mem   int64   `json:"mem_bytes"`
	// Without it a phase would be simulated as one that asks for all of the rate that it needs most. A shuffle then seems to fill the
	// network of its node, and the scheduler phases starts the next one only after it.
	Seconds float64 `json:"seconds"` // duration at full speed
}

// predict lets the program simulate each workload from the demands of its jobs when they ran alone.
// The descriptions of the workloads are kept with the results.
func (r *results) predict(ctx context.Context, berth string) error {
	r.Predicted = nil
	for _, j := range jobs {
		if chain := r.demands(j.name); chain != nil {
			if err := r.simulate(ctx, berth, alone, j.name, r.workload(j.name, [][]simulatedJob{chain})); err != nil {
				return err
			}
		}
	}
	for _, n := range r.Runs {
		if n.Part != batch || n.Error != "" {
			continue
		}
		var all [][]simulatedJob
		for _, j := range n.Jobs {
			chain := r.demands(j.Job)
			if chain == nil {
				return nil // without a run alone the demands are unknown
			}
			all = append(all, chain)
		}
		return r.simulate(ctx, berth, batch, "", r.workload(batch, all)) // the order has little effect
	}
	return nil
}

// workload submits the jobs with the time between the jobs of a batch.
func (r *results) workload(name string, all [][]simulatedJob) simulated {
	n := r.Node
	w := simulated{Name: name, Nodes: nodes, Node: simulatedNode{n.Cores, int64(n.Mem) << 20, int64(n.Disk) * 1e6, int64(n.Net) * 1e6 / 8}}
	for i, chain := range all {
		for k, j := range chain {
			j.Submit = float64(i) * submissionGap.Seconds()
			if k > 0 {
				j.After = len(w.Jobs)
			}
			w.Jobs = append(w.Jobs, j)
		}
	}
	return w
}

// demands returns the mean demands of the tasks of a job in its runs alone, with one description for
// each job of a chain, or nil without such a run. If the nodes together have more cores than the
// machine, their cores are slower.
func (r *results) demands(name string) (chain []simulatedJob) {
	slower := max(1, float64(nodes*r.Node.Cores)/float64(r.Machine))
	runs := 0.0
	for _, s := range schedulers {
		for _, n := range r.of(s, alone, name) {
			runs++
			for i, st := range n.Jobs[0].Steps {
				if i == len(chain) {
					chain = append(chain, simulatedJob{Name: name})
				}
				chain[i].add(&st, runs, slower)
			}
		}
	}
	return chain
}

// add adds another run to the means.
func (j *simulatedJob) add(s *step, runs, slower float64) {
	for i, p := range s.Phases {
		switch p.Phase {
		case "map":
			j.Maps = p.Total
		case "reduce":
			j.Reduces = p.Total
		}
		if i == len(j.Phases) {
			j.Phases = append(j.Phases, simulatedPhase{Phase: p.Phase})
		}
		mean := func(to *float64, v float64) { *to += (v - *to) / runs }
		to, tasks := &j.Phases[i], float64(max(1, p.Total))
		mean(&to.CPU, p.CPUs/tasks*slower)
		mean(&to.Seconds, p.busy())
		mean(&to.Disk, p.busier(float64(p.In)/tasks))
		if p.Phase == "shuffle" {
			mean(&to.Net, float64(p.In)/tasks)
		}
		to.Mem = max(to.Mem, int64(p.Mem))
	}
}

// busier returns the bytes that a task moves in the busier direction of its disk, as reading and writing have a rate of their own. in is
// the input of the task, of which it has read as much as its disk moved at all.
func (p *phase) busier(in float64) float64 {
	moved := p.Disk * p.busy()
	read := min(in, moved)
	return max(read, moved-read)
}

// simulate writes a workload to a file and simulates it under all schedulers.
func (r *results) simulate(ctx context.Context, berth, part, name string, w simulated) error {
	text, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return err
	}
	file := filepath.Join(r.dir, "measured-"+w.Name+".json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, berth, "phases", "--measured", file, "--scheduler", strings.Join(schedulers, ","), "--json")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("berth-lab phases --measured %s: %w: %s", file, err, lastLine(said.String()))
	}
	var got struct {
		Rows []struct {
			Scheduler   string  `json:"scheduler"`
			Makespan    float64 `json:"makespan_s"`
			Completions []struct {
				Completion float64 `json:"completion_s"`
			} `json:"completions"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("the output of berth-lab phases cannot be parsed: %w", err)
	}
	chains := 0
	for _, j := range w.Jobs {
		if j.After == 0 {
			chains++
		}
	}
	for _, row := range got.Rows {
		sum := 0.0 // the jobs of a chain run one after the other
		for _, c := range row.Completions {
			sum += c.Completion
		}
		r.Predicted = append(r.Predicted, prediction{part, name, row.Scheduler, sum / float64(chains), row.Makespan})
	}
	return nil
}

// predictionTable compares the simulations with the measurements.
func predictionTable(res *results) string {
	columns := present(res, alone)
	if len(res.Predicted) == 0 || len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nPredictions by `berth-lab phases --measured` from the demands of the jobs alone, and by how much they are above (+) or below (-) the measurements:\n\n")
	head(&b, "", columns)
	sum, worst, n := 0.0, 0.0, 0
	line := func(label, part, job string, predicted func(prediction) float64, real func(*run) float64) {
		cells, any := []string{label}, false
		for _, s := range columns {
			cell := "–"
			for _, p := range res.Predicted {
				m := each(res.of(s, part, job), real)
				if p.Part == part && p.Job == job && p.Scheduler == s && m.n > 0 {
					off := predicted(p)/m.mean - 1
					cell, any = fmt.Sprintf("%.1f (%+.0f %%)", predicted(p), 100*off), true
					sum, worst, n = sum+math.Abs(off), max(worst, math.Abs(off)), n+1
				}
			}
			cells = append(cells, cell)
		}
		if any {
			row(&b, cells...)
		}
	}
	mean := func(p prediction) float64 { return p.Mean }
	for _, j := range jobs {
		line(j.name+" alone, s", alone, j.name, mean, (*run).mean)
	}
	line("batch, mean completion, s", batch, "", mean, (*run).mean)
	line("batch, makespan, s", batch, "", func(p prediction) float64 { return p.Makespan }, func(r *run) float64 { return r.Makespan })
	fmt.Fprintf(&b, "\nThe mean error is %.0f %%, that of the worst cell %.0f %%.\n", 100*sum/float64(max(1, n)), 100*worst)
	return b.String()
}
