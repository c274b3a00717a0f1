package swf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Estimates selects the wall times that jobs request in a simulation.
type Estimates string

const (
	// User is the time that the user requested in the log.
	User Estimates = "user"
	// Exact is the run time of the job.
	Exact Estimates = "exact"
)

// filter keeps only the jobs that an experiment with wall times can use: allocated and requested
// processors in 1…procs, and run time and requested time above 0. It cuts run times at the requested
// time.
func (l *Log) filter(procs int) {
	before := len(l.Jobs)
	fits := func(n time.Duration) bool { return n > 0 && whole(n) <= int64(procs) }
	l.Jobs = slices.DeleteFunc(l.Jobs, func(j Job) bool {
		return !fits(j.Fields[Procs]) || !fits(j.Fields[ReqProcs]) || j.Fields[Run] <= 0 || j.Fields[Request] <= 0
	})
	for i := range l.Jobs {
		f := &l.Jobs[i].Fields
		f[Run] = min(f[Run], f[Request])
	}
	l.Filtered += before - len(l.Jobs)
}

// Rigid makes a workload of the log, in the order of submission. A job needs the nodes that it was
// allocated, or else those that it requested. It requests the time in the log, or else its run time.
// With both kinds of estimates it runs at most for its requested time, at which it was killed, so
// that both have the same work.
//
// Jobs that cannot be run (unknown run time or processors, more processors than the cluster has, no
// time requested) are refused or skipped, as o.Odd says. They are also removed from the log, so that
// l.Jobs are the returned jobs, one by one.
func (l *Log) Rigid(o Options) ([]workload.Rigid, error) {
	procs := cmp.Or(o.Procs, l.Header.Procs(), math.MaxInt32)
	if o.Filter {
		l.filter(procs)
	}
	var refused error
	l.Jobs = slices.DeleteFunc(l.Jobs, func(j Job) bool {
		why := j.odd(procs)
		if why != "" {
			refused = cmp.Or(refused, o.Odd.Take(&l.Skipped, workload.Odd{Line: int(j.Line), Why: why}, l.Name))
		}
		return why != "" && refused == nil
	})
	if refused != nil {
		return nil, refused
	}
	rigid := make([]workload.Rigid, len(l.Jobs))
	for i := range l.Jobs {
		rigid[i] = l.Jobs[i].rigid(o.Estimates)
	}
	return rigid, nil
}

// None returns the error for a log without any job to simulate, or nil.
func (l *Log) None() error {
	if len(l.Jobs) > 0 {
		return nil
	}
	why := ""
	if n := len(l.Skipped); n > 0 {
		why = fmt.Sprintf("%d odd lines were left out, the first: line %d: %s", n, l.Skipped[0].Line, l.Skipped[0].Why)
	} else if l.Filtered > 0 {
		why = fmt.Sprintf("the filter left out %d jobs", l.Filtered)
	}
	return job.ConfigError(l.Name, "there is no job in it that can be simulated", why)
}

// nodes returns the number of nodes that the job needs; 0 or less means unknown.
func (f *Fields) nodes() int {
	n := f[Procs]
	if n <= 0 {
		n = f[ReqProcs]
	}
	return int(n / time.Second)
}

// odd returns why a job cannot be run on a cluster, or "".
func (f *Fields) odd(procs int) string {
	n := f.nodes()
	switch {
	case f[Run] < 0:
		return "the run time is unknown (-1)"
	case n < 0:
		return "both allocated and requested processors are unknown (-1)"
	case n == 0:
		return "the job has no processors"
	case n > procs:
		return fmt.Sprintf("the job needs %d processors, but the cluster has %d", n, procs)
	case f[Request] == 0:
		return "the job requests a time of 0"
	case f[Request] < 0 && f[Request] != UnknownTime:
		return fmt.Sprintf("the requested time is negative: %s", text(f[Request]))
	case max(f[Run], f[Request]) > workload.Longest:
		return fmt.Sprintf("a job of %s is longer than ten years", text(max(f[Run], f[Request])))
	}
	return ""
}

func (f *Fields) rigid(e Estimates) workload.Rigid {
	run, request := f[Run], f[Request]
	if request < 0 {
		request = run
	}
	if e == Exact {
		run = min(run, request)
		request = run
	}
	return workload.Rigid{
		ID: whole(f[Number]), User: whole(f[UserID]), Submit: job.Time(f[Submit]), Nodes: f.nodes(), Run: run, Request: max(request, time.Nanosecond),
	}
}

// text returns d in seconds with the unit.
func text(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s" }
