// Package batsim writes schedules as Batsim does (its documentation, "Output: jobs"), so
// that what reads Batsim's jobs.csv reads ours: one line for each job, times in seconds.
//
// Three columns say nothing here. allocated_resources is empty, since nodes are counted and
// not told apart; consumed_energy is -1, which Batsim writes where no energy is reckoned;
// metadata is empty.
package batsim

import (
	"bufio"
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
)

// Columns are the head of jobs.csv, in Batsim's order.
const Columns = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state," +
	"starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"

// Job is a line of jobs.csv.
type Job struct {
	ID      int64
	Profile string // what ran
	Submit  job.Time
	Nodes   int
	Request time.Duration // wall time
	Start   job.Time
	Finish  job.Time
	Killed  bool // at its wall time
}

// Write writes the jobs of a workload of that name. stretch is empty for a job that took
// no time.
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

// seconds appends a comma and d with as many decimals as it has.
func seconds(b []byte, d time.Duration) []byte {
	b = append(b, ',')
	if d%time.Second == 0 {
		return strconv.AppendInt(b, int64(d/time.Second), 10)
	}
	return strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64)
}

// quoted returns a value as it stands in a file of comma-separated values (RFC 4180).
func quoted(value string) string {
	if !strings.ContainsAny(value, "\",\r\n") {
		return value
	}
	var b strings.Builder
	c := csv.NewWriter(&b)
	_ = c.Write([]string{value}) // a strings.Builder takes all
	c.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
