// Package sacct reads the jobs of a cluster from Slurm's accounting, as printed by Command:
//
//	sacct -a -X -P --format=JobID,User,Submit,Start,End,State,NNodes,TimelimitRaw,ElapsedRaw
//
// (man sacct). The first line names the columns, which may be in any order and include others. Times
// are local times without a zone, or seconds since the epoch if SLURM_TIME_FORMAT is %s, which is
// unambiguous also in the hour that is repeated at the end of summer time.
//
//	log, err := sacct.Read(os.Stdin, "-", sacct.Options{})
//
// The package is pure except for the reader that it is given: it must not open files or run
// commands.
package sacct

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/logfile"
)

// Command prints what this package reads.
const Command = "sacct -a -X -P --format=JobID,User,Submit,Start,End,State,NNodes,TimelimitRaw,ElapsedRaw"

// Options control how a log is read.
type Options struct {
	Odd   workload.OnOdd
	Nodes int // of the cluster: a job with more nodes is odd; 0: unknown
}

// Log is the contents of the accounting.
type Log struct {
	// Jobs are ordered by submission, with times since the first submission. All tasks of an array,
	// and all parts of a job of several parts, have its number as their ID. A job without a limit
	// requests the longest limit in the log, or its run time if that is longer.
	Jobs []workload.Rigid // users have numbers by their first appearance; -1 if the log has none

	NeverRan int // number of jobs left out because they had no nodes, so far or at all
	Running  int // number of jobs that had not ended: their run time is the one so far
	NoLimit  int // number of jobs without a limit
	Skipped  []workload.Odd
}

// Read reads the output of sacct. name is its name in messages. Errors that the user can correct are
// *job.Error with "file:line".
func Read(r io.Reader, name string, o Options) (*Log, error) {
	p := &parser{log: &Log{}, nodes: o.Nodes, users: map[string]int64{}}
	err := logfile.Lines(r, name, func(number int, line []byte) error {
		text := string(bytes.TrimSuffix(line, []byte("\r")))
		if strings.TrimSpace(text) == "" {
			return nil
		}
		if p.columns != nil {
			return o.Odd.Take(&p.log.Skipped, workload.Odd{Line: number, Why: p.row(strings.Split(text, "|"))}, name)
		}
		if missing := p.head(text); missing != "" {
			return workload.BadLine(name, number, fmt.Sprintf("the column %s is missing", missing), "print the jobs with "+Command)
		}
		return nil
	})
	if err == nil && p.columns == nil {
		err = workload.BadLine(name, 1, "there is no line that names the columns", "print the jobs with "+Command)
	}
	if err != nil {
		return nil, err
	}
	p.finish()
	return p.log, nil
}

// finish orders the jobs, makes their times relative to the first, and sets missing limits.
func (p *parser) finish() {
	jobs := p.log.Jobs
	slices.SortStableFunc(jobs, func(a, b workload.Rigid) int { return cmp.Compare(a.Submit, b.Submit) })
	longest := time.Duration(0)
	for _, j := range jobs {
		longest = max(longest, j.Request)
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		jobs[i].Submit -= jobs[0].Submit
		if jobs[i].Request == 0 {
			p.log.NoLimit++
			jobs[i].Request = max(longest, jobs[i].Run, time.Nanosecond)
		}
	}
}
