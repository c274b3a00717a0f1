package scenario

import (
	"errors"
	"fmt"
	"io"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/logfile"
	"berth/internal/simulate/workload/sacct"
	"berth/internal/simulate/workload/swf"
	"berth/internal/simulate/workload/swim"
)

// load reads the logs that the scenario names. If the scenario does not give the number of nodes,
// the header of the first log in the Standard Workload Format does.
func (s *Scenario) load(stdin io.Reader) error {
	if err := s.loadCloud(); err != nil {
		return err
	}
	longest := time.Duration(0)
	for i := range s.rigid {
		r := &s.rigid[i]
		var err error
		switch {
		case r.swf != "":
			err = s.loadSWF(r, stdin)
		case r.sacct != "":
			err = s.loadSacct(r, stdin)
		}
		if err != nil {
			return s.named(r.path, err)
		}
		if r.swf+r.sacct == "" {
			continue
		}
		r.jobs = workload.Window(r.jobs, job.Time(r.from), r.length)
		if len(r.jobs) == 0 {
			return job.ConfigError(s.at(r.path), "no job was submitted in this part of the log", "take another window (from, for)")
		}
		for _, j := range r.jobs {
			longest = max(longest, j.Request)
		}
	}
	if !s.limited && longest > 0 {
		s.Cluster.MaxTime = longest
		s.Notes = append(s.Notes, "the queue's maximum wall time is assumed to be the longest request in the log, "+job.FormatDuration(longest))
	}
	for i := range s.elastic {
		if err := s.loadSWIM(&s.elastic[i]); err != nil {
			return s.named(s.elastic[i].path, err)
		}
	}
	return nil
}

// named adds the position of the log's name in the scenario to an error that has no position.
func (s *Scenario) named(path string, err error) error {
	var e *job.Error
	if errors.As(err, &e) && e.Where == "" {
		e.Where = s.at(path)
	}
	return err
}

func (s *Scenario) loadSWF(r *rigidSource, stdin io.Reader) error {
	o := swf.Options{Odd: r.odd, Filter: r.filter}
	var log *swf.Log
	var err error
	if path := s.relative(r.path+"swf", r.swf); path == "-" {
		log, err = swf.Read(stdin, "standard input", o)
	} else {
		log, err = swf.Open(path, o)
	}
	if err != nil {
		return err
	}
	if s.Cluster.Nodes == 0 {
		s.Cluster.Nodes = log.Header.Procs()
	}
	o.Procs = s.Cluster.Nodes
	if r.estimates == estimatesExact {
		o.Estimates = swf.Exact
	}
	if r.jobs, err = log.Rigid(o); err != nil {
		return err
	}
	if err := log.None(); err != nil {
		return err
	}
	s.note(log.Filtered, "%s: the filter left out %d jobs", log.Name)
	s.noteOdd(log.Skipped, log.Name)
	return nil
}

func (s *Scenario) loadSacct(r *rigidSource, stdin io.Reader) error {
	name, in := "standard input", stdin
	if path := s.relative(r.path+"sacct", r.sacct); path != "-" {
		f, err := logfile.Open(path, "the accounting")
		if err != nil {
			return err
		}
		defer f.Close()
		name, in = path, f
	}
	log, err := sacct.Read(in, name, sacct.Options{Odd: r.odd, Nodes: s.Cluster.Nodes})
	if err != nil {
		return err
	}
	if len(log.Jobs) == 0 {
		return job.ConfigError(name, fmt.Sprintf("none of its %d jobs ever ran", log.NeverRan+len(log.Skipped)), "start sacct's output earlier (-S)")
	}
	r.jobs = log.Jobs
	if r.estimates == estimatesExact {
		requestExactly(r.jobs)
	}
	s.note(log.NeverRan, "%s: %d jobs were left out, because they never had nodes", name)
	s.note(log.Running, "%s: %d jobs were still running; their run time until then is used", name)
	s.note(log.NoLimit, "%s: %d jobs have no time limit; the longest limit in the log is used", name)
	s.noteOdd(log.Skipped, name)
	return nil
}

func (s *Scenario) loadSWIM(e *elasticSource) error {
	if e.swim == "" {
		return nil
	}
	all, err := swim.Open(s.relative(e.path+"swim", e.swim), swim.Options{Seed: s.Seed, Users: e.users})
	if err != nil {
		return err
	}
	from := job.Time(e.from)
	for _, j := range all {
		if j.Submit >= from && (e.length == 0 || j.Submit < from.Add(e.length)) {
			j.Submit -= from
			e.jobs = append(e.jobs, j)
		}
	}
	if len(e.jobs) == 0 {
		return job.ConfigError(s.at(e.path), "no job was submitted in this part of the sample", "take another window (from, for)")
	}
	return nil
}

// note adds a remark about n jobs of a log, unless n is 0.
func (s *Scenario) note(n int, format, name string) {
	if n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf(format, name, n))
	}
}

// noteOdd adds a remark about the lines of a log that were left out.
func (s *Scenario) noteOdd(lines []workload.Odd, name string) {
	if len(lines) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %d odd lines were left out, the first: line %d: %s", name, len(lines), lines[0].Line, lines[0].Why))
	}
}
