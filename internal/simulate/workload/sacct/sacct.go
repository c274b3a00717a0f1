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
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
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
	Jobs  []workload.Rigid
	Users []string // Rigid.User is an index; -1 if the log has no users

	NeverRan int // number of jobs left out because they had no nodes, so far or at all
	Running  int // number of jobs that had not ended: their run time is the one so far
	NoLimit  int // number of jobs without a limit
	Skipped  []workload.Odd
}

// maxLine is the longest line that is accepted. Lines of Command are below 300 bytes.
const maxLine = 1 << 20

// Read reads the output of sacct. name is its name in messages. Errors that the user can correct are
// *job.Error with "file:line".
func Read(r io.Reader, name string, o Options) (*Log, error) {
	p := &parser{log: &Log{}, nodes: o.Nodes, users: map[string]int64{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		text := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if p.columns == nil {
			if missing := p.head(text); missing != "" {
				return nil, workload.BadLine(name, number, fmt.Sprintf("the column %s is missing", missing), "print the jobs with "+Command)
			}
			continue
		}
		if why := p.row(strings.Split(text, "|")); why != "" {
			odd := workload.Odd{Line: number, Why: why}
			if o.Odd == workload.Refuse {
				return nil, odd.In(name)
			}
			p.log.Skipped = append(p.log.Skipped, odd)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, workload.BadLine(name, number+1, "the line is too long for output of sacct", "print the jobs with "+Command)
	case err != nil:
		return nil, job.IOError(job.Fatal, fmt.Sprintf("%s:%d", name, number+1), "cannot read on", err)
	case p.columns == nil:
		return nil, workload.BadLine(name, 1, "there is no line that names the columns", "print the jobs with "+Command)
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
