// Package sacct reads what Slurm's accounting tells of the jobs of a cluster:
//
//	sacct -a -X -P --format=JobID,User,Submit,Start,End,State,NNodes,TimelimitRaw,ElapsedRaw
//
// (man sacct). The first line names the columns, which may be in any order and have others
// among them. Times of day are local ones without a zone, or seconds since the epoch where
// SLURM_TIME_FORMAT is %s, which also tells the hours apart that the change from summer to
// winter time repeats.
//
// It is pure but for the reader that it is given.
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

	"berth/internal/job"
	"berth/internal/workload"
)

// Command prints what this package reads.
const Command = "sacct -a -X -P --format=JobID,User,Submit,Start,End,State,NNodes,TimelimitRaw,ElapsedRaw"

// Options say how a log is read.
type Options struct {
	Odd   workload.OnOdd
	Nodes int // of the cluster: a job that had more is odd; 0: not known
}

// Log is what sacct told.
type Log struct {
	// Jobs are in the order of submission, with times since the first of them. The number
	// of an array or of a job of several parts is the ID of all its tasks or parts. A job
	// without a limit asks for the longest limit in the log, or its run time if that is more.
	Jobs  []workload.Rigid
	Users []string // Rigid.User is an index; -1 where the log has no users

	NeverRan int // jobs that were left out because they had no nodes, yet or at all
	Running  int // jobs that were not over: their run time is what it was by then
	NoLimit  int // jobs without a limit
	Skipped  []workload.Odd
}

// maxLine is how long a line may be; sacct's with the columns above are below 300 bytes.
const maxLine = 1 << 20

// Read reads the output of sacct, that is called name in messages. Errors that a person
// has to mend are *job.Error with "file:line".
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
		return nil, workload.BadLine(name, number+1, "the line is too long to be sacct's", "print the jobs with "+Command)
	case err != nil:
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: fmt.Sprintf("%s:%d", name, number+1), What: "cannot read on", Err: err}
	case p.columns == nil:
		return nil, workload.BadLine(name, 1, "there is no line that names the columns", "print the jobs with "+Command)
	}
	p.finish()
	return p.log, nil
}

// finish orders the jobs, counts their times from the first and gives those a limit that have none.
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
