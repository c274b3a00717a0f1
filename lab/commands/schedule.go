package commands

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/swf"
	"berth/lab/batsim"
	"berth/lab/metrics"
	"berth/lab/swfout"
)

// schedule is a schedule of a log's jobs.
type schedule struct {
	nodes     int
	policy    batch.Policy
	estimates swf.Estimates
	jobs      []workload.Rigid
	starts    []job.Time // of the jobs
}

// end returns when job i ended or was killed.
func (r *schedule) end(i int) job.Time {
	return r.starts[i].Add(min(r.jobs[i].Run, r.jobs[i].Request))
}

func (r *schedule) killed(i int) bool { return r.jobs[i].Run > r.jobs[i].Request }

func (r *schedule) measure() Simulation {
	s := Simulation{Policy: string(r.policy), Estimates: string(r.estimates), Nodes: r.nodes}
	var m metrics.Meter
	for i, j := range r.jobs {
		m.Add(j.Submit, r.starts[i], r.end(i), j.Nodes)
		if r.killed(i) {
			s.Killed++
		}
	}
	s.Measure(m.Summary(r.nodes))
	return s
}

// scheduleForm returns an error if the file's name does not give the format of the schedule.
func scheduleForm(path string) error {
	for _, end := range []string{".csv", ".swf", ".swf.gz"} {
		if path == "" || strings.HasSuffix(path, end) {
			return nil
		}
	}
	return job.ConfigError("--out", fmt.Sprintf("the extension of %q is not known", path), "write the schedule to a file that ends with .csv, .swf or .swf.gz")
}

// output returns the schedule as a file in the format that its name gives, or none without a name.
// It replaces the waits and run times in the log.
func (r *schedule) output(path string, log *swf.Log) []simulation.Output {
	write := func(w io.Writer) error { return r.writeSWF(w, log) }
	switch {
	case path == "":
		return nil
	case strings.HasSuffix(path, ".csv"):
		write = func(w io.Writer) error { return batsim.Write(w, logName(log), r.lines(log)) }
	case strings.HasSuffix(path, ".gz"):
		write = func(w io.Writer) error {
			z := gzip.NewWriter(w)
			return cmp.Or(r.writeSWF(z, log), z.Close())
		}
	}
	return []simulation.Output{{Path: path, Write: write}}
}

// logName is the file name of the log without its extensions.
func logName(log *swf.Log) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(log.Name), ".gz"), ".swf")
}

// lines yields the schedule for jobs.csv. The profile is the number of the executable.
func (r *schedule) lines(log *swf.Log) iter.Seq[batsim.Job] {
	return func(yield func(batsim.Job) bool) {
		for i, j := range r.jobs {
			line := batsim.Job{ID: j.ID, Submit: j.Submit, Nodes: j.Nodes, Request: j.Request, Start: r.starts[i], Finish: r.end(i), Killed: r.killed(i)}
			if app := swfout.Whole(log.Jobs[i].Fields[swf.App]); app >= 0 {
				line.Profile = strconv.FormatInt(app, 10)
			}
			if !yield(line) {
				return
			}
		}
	}
}

// writeSWF writes the log with the simulated schedule instead of the recorded one.
func (r *schedule) writeSWF(w io.Writer, log *swf.Log) error {
	for i, j := range r.jobs {
		l := &log.Jobs[i].Fields
		l[swf.Wait], l[swf.Run], l[swf.Procs], l[swf.Request] = r.starts[i].Sub(j.Submit), r.end(i).Sub(r.starts[i]), time.Duration(j.Nodes)*time.Second, j.Request
	}
	log.Header = append(log.Header, fmt.Sprintf("; Note: wait and run times are those of a simulation: %s, %s estimates, %d processors", r.policy, r.estimates, r.nodes))
	return swfout.Write(w, log)
}
