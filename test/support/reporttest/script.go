package reporttest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// Epoch is the instant from which the times of a script count.
var Epoch = job.Time(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())

// Script plays a history into the fold of a job.
type Script struct {
	Job *report.Job
	Now job.Time // of the last line

	nodes   *report.Nodes
	id      job.ID
	kind    job.Kind
	maps    int
	seq     uint64
	entered map[job.Attempt][]job.PhaseStat
}

// New returns a script that plays into a new fold.
func New(info report.Info) *Script {
	info.Nodes = report.NewNodes()
	return &Script{Job: report.New(info), Now: Epoch, nodes: info.Nodes, id: info.ID, entered: map[job.Attempt][]job.PhaseStat{}}
}

// Play plays lines. It skips empty lines and those that begin with '#'.
func (s *Script) Play(text string) error {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := s.line(line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

func (s *Script) line(text string) error {
	a, err := parse(text)
	if err != nil {
		return err
	}
	s.Now = Epoch.Add(a.at)
	switch a.verb {
	case "note":
		s.nodes.ApplyNote(job.AllocID(a.word(0)), a.text("note"), a.instant("start"), false)
		return a.err
	case "progress":
		of := s.attempt(a.word(0))
		s.Job.ApplyProgress(s.Job.NodeOf(of), wire.Progress{Progress: a.progress(of),
			PhaseProgress: probe.PhaseProgress{Phase: phaseNamed(a.word(1)), BytesIn: a.size("in"), BytesOut: a.size("out"), Part: a.float("fraction", -1)}})
		return a.err
	}
	r := s.record(a)
	if a.err == nil && r == nil {
		a.err = fmt.Errorf("unknown verb %q", a.verb)
	}
	if a.err != nil {
		return a.err
	}
	s.seq++
	e := event.Entry{Seq: s.seq, At: s.Now, Record: r}
	s.nodes.Apply(e)
	s.Job.Apply(e)
	return nil
}

// record makes the record of a line.
func (s *Script) record(a *args) event.Record {
	switch a.verb {
	case "submit":
		return s.submit(a)
	case "resume":
		return event.JobResumed{Job: s.id, Failed: a.word(0) == "failed"}
	case "needs":
		return event.NeedsChanged{Job: s.id, Task: int32(a.size("task")), Mem: a.size("mem"), Reason: a.text("reason")}
	case "stopping":
		return event.JobStopping{Job: s.id, State: event.State(a.word(0)), Reason: a.text("reason")}
	case "finalizing":
		return event.JobFinalizing{Job: s.id}
	case "end":
		return event.JobEnded{Job: s.id, State: event.State(a.word(0)), Reason: a.text("reason"), Code: job.Code(a.size("code"))}
	case "output-lost":
		return event.OutputLost{Job: s.id, Task: s.attempt(a.word(0) + "#1").Task, Reason: a.text("reason")}
	case "node":
		return event.NodeJoined{Node: job.NodeID(a.word(0)), Host: a.text("host"), Capacity: job.Resources{CPUs: int(a.size("cpus")), Mem: a.size("mem"), GPUs: int(a.size("gpus")), GPUType: a.text("gpu-type")}}
	case "node-lost":
		return event.NodeLost{Node: job.NodeID(a.word(0)), Gone: a.word(1) == "gone", Reason: a.text("reason")}
	case "alloc":
		return s.alloc(a)
	case "alloc-began":
		return event.AllocBegan{Alloc: job.AllocID(a.word(0)), Ends: a.instant("ends")}
	case "planned":
		return event.JobPlanned{Job: s.id, Decision: a.text("decision"), Scout: int(a.size("scout")),
			Turnaround: job.Turnaround{Low: a.duration("low"), Up: a.duration("up"), Mean: a.duration("mean")}}
	case "alloc-ended":
		return event.AllocEnded{Alloc: job.AllocID(a.word(0)), Reason: a.text("reason")}
	default:
		return s.attemptRecord(a)
	}
}

func (s *Script) submit(a *args) event.Record {
	s.kind, s.maps = job.Kind(a.word(0)), int(a.size("tasks"))
	return event.JobSubmitted{Work: job.Work{
		ID: s.id, Name: a.text("name"), Kind: s.kind, Tasks: s.maps, Reduces: int(a.size("reduces")),
		Terms: job.Terms{NodeMem: a.size("node-mem"), Need: job.Resources{GPUs: int(a.size("need-gpus"))}, Attempts: max(int(a.size("attempts")), 1), ReduceAttempts: max(int(a.size("attempts")), 1), MaxFails: -1},
		Alloc: request(a),
	}}
}

// alloc makes the record of an allocation of a batch system, requested for the script's job unless
// for= names another job.
func (s *Script) alloc(a *args) event.Record {
	r := event.AllocRequested{Alloc: job.AllocID(a.word(0)), Request: request(a), Job: s.id}
	if of := a.text("for"); of != "" {
		r.Job = job.ID(of)
	}
	return r
}

// request parses the request to a batch system; it is empty if no partition is named.
func request(a *args) job.AllocRequest {
	if a.text("partition") == "" {
		return job.AllocRequest{}
	}
	return job.AllocRequest{
		On: "slurm", Elastic: true, Batch: job.Batch{Partition: a.text("partition")},
		Nodes: int(a.size("nodes")), PerNode: job.Resources{CPUs: int(a.size("cpus")), Mem: a.size("mem")},
		Time: a.duration("time"), Start: a.instant("start"),
	}
}

func (s *Script) attemptRecord(a *args) event.Record {
	at := s.attempt(a.word(0))
	switch a.verb {
	case "start":
		first := s.taskKind(at.Task).Phases()[0]
		s.entered[at] = []job.PhaseStat{{Phase: first, Start: s.Now}}
		return event.AttemptStarted{Attempt: at, Node: job.NodeID(a.word(1)), Through: first, Mem: a.size("mem")}
	case "phase":
		p := phaseNamed(a.word(1))
		s.entered[at] = append(s.endPhase(at), job.PhaseStat{Phase: p, Start: s.Now})
		return event.PhaseEntered{Attempt: at, Phase: p}
	}
	for o := event.Done; o <= event.Outgrown; o++ {
		if o.String() == a.verb {
			return s.ended(a, at, o)
		}
	}
	return nil
}

// endPhase ends the present phase of the attempt.
func (s *Script) endPhase(at job.Attempt) []job.PhaseStat {
	stats := s.entered[at]
	if n := len(stats); n > 0 {
		stats[n-1].End = s.Now
	}
	return stats
}

func (s *Script) ended(a *args, at job.Attempt, o event.Outcome) event.Record {
	r := event.AttemptEnded{
		Attempt: at, Outcome: o, Exit: int(a.size("exit")), Signal: int(a.size("signal")),
		Reason: a.text("reason"), Stderr: a.text("stderr"), Counters: a.counters(),
	}
	r.Lack, r.Last = lackNamed(a.text("lack")), a.text("last") != ""
	last := a.progress(at)
	r.Source, r.N = last.Source, last.N
	stats := s.endPhase(at)
	if o != event.Done && len(stats) > 0 {
		stats = stats[:len(stats)-1] // the present phase did not end
	}
	if o == event.Lost {
		stats = nil // a lost attempt reports nothing
	}
	for i := range stats {
		p := stats[i].Phase.String() + "."
		stats[i].BytesIn, stats[i].BytesOut = a.size(p+"in"), a.size(p+"out")
		stats[i].RecordsIn, stats[i].RecordsOut = a.size(p+"rin"), a.size(p+"rout")
		stats[i].CPU, stats[i].PeakMemory = a.duration(p+"cpu"), a.size(p+"mem")
	}
	r.Stats = stats
	delete(s.entered, at)
	return r
}

// attempt parses TASK#N.
func (s *Script) attempt(text string) job.Attempt {
	task, n, _ := strings.Cut(text, "#")
	a := job.Attempt{Job: s.id}
	a.Task, _ = strconv.Atoi(task)
	a.N, _ = strconv.Atoi(n)
	return a
}

func (s *Script) taskKind(task int) job.TaskKind {
	w := job.Work{Kind: s.kind, Tasks: s.maps}
	return w.TaskKind(task)
}

func lackNamed(name string) event.Lack {
	for l := event.LackNothing; l <= event.LackTime; l++ {
		if l.String() == name {
			return l
		}
	}
	return event.LackNothing
}

func phaseNamed(name string) job.Phase {
	for p := job.PhaseNone; p <= job.PhaseReduce; p++ {
		if p.String() == name {
			return p
		}
	}
	return job.PhaseNone
}
