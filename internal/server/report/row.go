package report

import (
	"time"

	"berth/internal/core/job"
)

// AttemptRow is an attempt that is over, a row of `berth report --tasks`. An attempt that was lost and came back
// has a second row.
type AttemptRow struct {
	Task     int         `json:"task"`            // index of the task, from 0; reduces come after the maps
	Name     string      `json:"name"`            // what the task is called
	Input    string      `json:"input,omitempty"` // as in `failures`
	Kind     string      `json:"kind"`            // `task`, `map` or `reduce`
	Attempt  int         `json:"attempt"`         // 1 for the task's first
	Node     string      `json:"node"`
	Host     string      `json:"host"`                // name of the machine; empty: not known
	Outcome  string      `json:"outcome"`             // `done`, `failed`, `lost`, `killed`, `broken`, `requeued`, `outgrown`; see `attempts`
	Mem      int64       `json:"mem_bytes,omitempty"` // memory that it could use; may be absent: not limited
	Lack     string      `json:"lack,omitempty"`      // what it ran out of: `memory`, `node memory` (the kernel killed it), `time`, `disk` (its host had no space for its files)
	Started  time.Time   `json:"started"`
	Ended    time.Time   `json:"ended"`
	Seconds  float64     `json:"seconds"`
	Exit     int         `json:"exit"`                // exit code of the task's program
	Signal   int         `json:"signal"`              // number of the signal that ended the program; 0: none
	Reason   string      `json:"reason,omitempty"`    // one line
	GPUs     int         `json:"gpus,omitempty"`      // GPUs that the attempt had, or shares of GPUs; may be absent: none
	GPUShare int         `json:"gpu_share,omitempty"` // thousandths of a GPU that each share was; may be absent: whole ones
	Shares   []ShareView `json:"shares,omitempty"`    // of a task of several ranks, by node; that on `node` first
	Phases   []PhaseRow  `json:"phases"`              // the phases that the attempt reached, in order
}

// Full is a job's view with all its attempts, the output of `berth report --tasks --json`.
type Full struct {
	JobView
	Rows []AttemptRow `json:"rows"` // all attempts that are over, in the order in which they ended
}

// PhaseRow is one phase of one attempt. If the phase did not end, bytes, CPU time and memory are unknown and 0.
type PhaseRow struct {
	Phase      string    `json:"phase"`
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Whole      bool      `json:"whole"` // the phase ran to its end; otherwise the numbers below are 0
	BytesIn    int64     `json:"bytes_in"`
	BytesOut   int64     `json:"bytes_out"`
	RecordsIn  int64     `json:"records_in"`
	RecordsOut int64     `json:"records_out"`
	CPUS       float64   `json:"cpu_s"`          // user and system time
	PeakMem    int64     `json:"peak_mem_bytes"` // 0: not known, as in `phases`
	Disk       *int64    `json:"disk_bytes"`     // read from disks and written to files; null: not measured
	Net        *int64    `json:"net_bytes"`      // fetched from other nodes; null: not measured
}

func (j *Job) row(r *ending) AttemptRow {
	g := j.tasks.group(r.Attempt.Task)
	need := j.tasks.needsOf(r.Attempt.Task)
	row := AttemptRow{
		Task: r.Attempt.Task, Name: j.TaskName(r.Attempt.Task), Input: j.taskInput(r.Attempt.Task), Kind: g.kind.String(), Attempt: r.Attempt.N,
		Node: string(r.node), Host: j.host(r.node), Outcome: r.Outcome.String(),
		Started: r.started.Std(), Ended: r.At.Std(), Seconds: round(r.seconds),
		Mem: r.mem, Lack: r.Lack.String(), Exit: r.Exit, Signal: r.Signal, Reason: r.Reason, GPUs: need.GPUs * r.ranks(), GPUShare: need.GPUShare, Shares: j.sharesUsed(r), Phases: []PhaseRow{},
	}
	var whole [3]bool
	for _, s := range r.Stats {
		row.Phases = append(row.Phases, phaseRow(s))
		if pos := g.index(s.Phase); pos > 0 {
			whole[pos-1] = true
		}
	}
	for k, at := range r.entered {
		if at == 0 || whole[k] {
			continue
		}
		end := r.At
		if k+1 < len(r.entered) && r.entered[k+1] != 0 {
			end = r.entered[k+1]
		}
		row.Phases = append(row.Phases, PhaseRow{Phase: g.phases[k].phase.String(), Start: at.Std(), End: end.Std()})
	}
	return row
}

func phaseRow(s job.PhaseStat) PhaseRow {
	row := PhaseRow{
		Phase: s.Phase.String(), Start: s.Start.Std(), End: s.End.Std(), Whole: true,
		BytesIn: s.BytesIn, BytesOut: s.BytesOut, RecordsIn: s.RecordsIn, RecordsOut: s.RecordsOut,
		CPUS: round(s.CPU.Seconds()), PeakMem: s.PeakMemory,
	}
	if !s.Missing.Has(job.Disk) {
		row.Disk = &s.DiskBytes
	}
	if !s.Missing.Has(job.Net) {
		row.Net = &s.NetBytes
	}
	return row
}
