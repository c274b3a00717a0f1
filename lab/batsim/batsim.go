// Package batsim writes schedules in Batsim's format (its documentation, "Output: jobs"), so that
// tools that read Batsim's jobs.csv can read ours. Write writes one line for each job, with times in
// seconds. The package only writes; it must not compute schedules.
//
// Three columns have no information here: allocated_resources is empty, because nodes are only
// counted; consumed_energy is -1, which Batsim writes if energy is not simulated; metadata is empty.
package batsim

import (
	"bufio"
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// Columns is the header line of jobs.csv, in Batsim's order.
const Columns = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state," +
	"starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"

// Job is a line of jobs.csv.
type Job struct {
	ID      int64
	Profile string // the application
	Submit  job.Time
	Nodes   int
	Request time.Duration // wall time
	Start   job.Time
	Finish  job.Time
	Killed  bool // killed at its wall time
}

// Write writes the jobs of the named workload. The column stretch is empty for a job of no duration.
func Write(w io.Writer, workload string, jobs iter.Seq[Job]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(Columns + "\n") // bufio keeps the first error until Flush
	workload = quoted(workload)
	var b []byte
	for j := range jobs {
		b = j.append(b[:0], workload)
		_, _ = out.Write(b)
	}
	return out.Flush()
}

func (j *Job) append(b []byte, workload string) []byte {
	b = strconv.AppendInt(b, j.ID, 10)
	b = append(append(b, ','), workload...)
	b = append(append(b, ','), quoted(j.Profile)...)
	b = seconds(b, j.Submit.Sub(0))
	b = strconv.AppendInt(append(b, ','), int64(j.Nodes), 10)
	b = seconds(b, j.Request)
	if j.Killed {
		b = append(b, ",0,COMPLETED_WALLTIME_REACHED"...)
	} else {
		b = append(b, ",1,COMPLETED_SUCCESSFULLY"...)
	}
	run, turnaround := j.Finish.Sub(j.Start), j.Finish.Sub(j.Submit)
	for _, d := range [...]time.Duration{j.Start.Sub(0), run, j.Finish.Sub(0), j.Start.Sub(j.Submit), turnaround} {
		b = seconds(b, d)
	}
	b = append(b, ',')
	if run > 0 {
		b = strconv.AppendFloat(b, turnaround.Seconds()/run.Seconds(), 'f', 6, 64)
	}
	return append(b, ",,-1,\n"...)
}

// seconds appends a comma and d in seconds, with as many decimals as needed.
func seconds(b []byte, d time.Duration) []byte {
	b = append(b, ',')
	if d%time.Second == 0 {
		return strconv.AppendInt(b, int64(d/time.Second), 10)
	}
	return strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64)
}

// quoted returns a value quoted for a CSV file (RFC 4180) if that is necessary.
func quoted(value string) string {
	if !strings.ContainsAny(value, "\",\r\n") {
		return value
	}
	var b strings.Builder
	c := csv.NewWriter(&b)
	_ = c.Write([]string{value}) // a strings.Builder never fails
	c.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
