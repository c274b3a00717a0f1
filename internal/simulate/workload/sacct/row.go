package sacct

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// needed are the required columns. User is used if it is present.
var needed = []string{"JobID", "Submit", "Start", "State", "NNodes", "TimelimitRaw", "ElapsedRaw"}

// parser parses lines.
type parser struct {
	log     *Log
	nodes   int
	columns map[string]int // by name; nil: not known yet
	width   int
	users   map[string]int64
}

// head parses the names of the columns and returns a missing one, or "".
func (p *parser) head(text string) (missing string) {
	names := strings.Split(text, "|")
	columns := make(map[string]int, len(names))
	for i, name := range names {
		columns[strings.TrimSpace(name)] = i
	}
	for _, name := range needed {
		if _, ok := columns[name]; !ok {
			return name
		}
	}
	p.columns, p.width = columns, len(names)
	return ""
}

// row parses a job and returns what is wrong with it, or "".
func (p *parser) row(cells []string) string {
	if len(cells) != p.width {
		return fmt.Sprintf("has %d fields, but there are %d columns", len(cells), p.width)
	}
	cell := func(name string) string { return strings.TrimSpace(cells[p.columns[name]]) }
	id := cell("JobID")
	if strings.Contains(id, ".") {
		return "" // a step of a job, listed without -X: the job has a line of its own
	}
	number, ok := leadingNumber(id)
	if !ok {
		return fmt.Sprintf("%q is not a job number", id)
	}
	run, err := strconv.ParseInt(cell("ElapsedRaw"), 10, 64)
	if err != nil || run > int64(workload.Longest/time.Second) {
		return fmt.Sprintf("the run time is not a number of seconds: %q", cell("ElapsedRaw"))
	}
	if run < 0 {
		return fmt.Sprintf("the run time is negative: %d s", run)
	}
	state, _, _ := strings.Cut(cell("State"), " ") // "CANCELLED by 1000"
	if neverRan(cell("Start"), strings.TrimSuffix(state, "+"), run) {
		p.log.NeverRan++
		return ""
	}
	j := workload.Rigid{ID: number, Run: time.Duration(run) * time.Second}
	if why := p.sizes(&j, cell("Submit"), cell("NNodes"), cell("TimelimitRaw")); why != "" {
		return why
	}
	j.User = p.user(cells)
	if state == "RUNNING" || state == "SUSPENDED" {
		p.log.Running++
	}
	p.log.Jobs = append(p.log.Jobs, j)
	return ""
}

// sizes parses the submission time, the number of nodes and the limit of a job. A limit of 0 means
// none.
func (p *parser) sizes(j *workload.Rigid, submit, nodes, limit string) (why string) {
	var ok bool
	if j.Submit, ok = instant(submit); !ok {
		return fmt.Sprintf("the submission time cannot be parsed: %q", submit)
	}
	n, err := strconv.ParseInt(nodes, 10, 32)
	switch {
	case err != nil:
		return fmt.Sprintf("the number of nodes cannot be parsed: %q", nodes)
	case n < 1:
		return fmt.Sprintf("the job ran on %d nodes", n)
	case p.nodes > 0 && int(n) > p.nodes:
		return fmt.Sprintf("the job had %d nodes, but the cluster has %d", n, p.nodes)
	}
	j.Nodes = int(n)
	if j.Request, ok = wallTime(limit); !ok {
		return fmt.Sprintf("the time limit is not a number of minutes: %q", limit)
	}
	return ""
}

// user returns the number of the row's user, in the order of first appearance.
func (p *parser) user(cells []string) int64 {
	at, ok := p.columns["User"]
	if !ok {
		return -1
	}
	name := strings.TrimSpace(cells[at])
	if _, known := p.users[name]; !known {
		p.users[name] = int64(len(p.users))
	}
	return p.users[name]
}

// neverRan reports whether a job had no nodes. For a job cancelled in the queue, some versions of
// Slurm print the time of the cancellation as its start.
func neverRan(start, state string, run int64) bool {
	switch start {
	case "", "Unknown", "None", "N/A":
		return true
	}
	return state == "PENDING" || state == "CANCELLED" && run == 0
}

// leadingNumber parses "12", "12_3" and "12_[3-5]" of an array, and "12+1" of a job of several
// parts.
func leadingNumber(id string) (int64, bool) {
	end := strings.IndexAny(id, "_+")
	if end < 0 {
		end = len(id)
	}
	n, err := strconv.ParseInt(id[:end], 10, 64)
	return n, err == nil && n > 0
}

// instant parses a date with time, or seconds since the epoch.
func instant(text string) (job.Time, bool) {
	if s, err := strconv.ParseInt(text, 10, 64); err == nil {
		return job.Time(s) * job.Time(time.Second), s >= 0 && s <= int64(workload.Latest/job.Time(time.Second))
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil || at.Unix() < 0 || at.Unix() > int64(workload.Latest/job.Time(time.Second)) {
		return 0, false
	}
	return job.Time(at.Unix()) * job.Time(time.Second), true
}

// wallTime parses a limit in minutes; 0 means none (man sbatch, --time).
func wallTime(text string) (time.Duration, bool) {
	switch text {
	case "", "UNLIMITED", "Partition_Limit":
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return time.Duration(min(n, int64(workload.Longest/time.Minute))) * time.Minute, true
}
