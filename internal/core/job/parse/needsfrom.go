package parse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// Needs are the needs of a single task by name, and how each is read, as the value of the option that it replaces.
var Needs = [...]struct {
	Name   string // with -from that of the option which names the column of entries that has it
	column func(*job.NeedsFrom) *int
	Read   func(n *job.Needs, where, value string) error
}{
	{"cpus", func(f *job.NeedsFrom) *int { return &f.CPUs }, func(n *job.Needs, where, value string) (err error) {
		n.CPUs, err = Count(where, value, 1, job.MaxCPUs)
		return err
	}},
	{"mem", func(f *job.NeedsFrom) *int { return &f.Mem }, func(n *job.Needs, where, value string) error {
		g, err := GrowMem(where, value)
		if err == nil && g.Auto {
			err = job.ConfigError(where, "the memory of a single task cannot be chosen", "leave it out and submit the bag with --mem auto, or write a size or a range, as in 4G..64G")
		}
		n.Mem, n.MaxMem = g.First, g.more()
		return err
	}},
	{"gpus", func(f *job.NeedsFrom) *int { return &f.GPUs }, func(n *job.Needs, where, value string) (err error) {
		if n.GPUs, n.GPUShare, n.GPUType, err = taskGPUs(where, value); n.GPUs == 0 {
			n.GPUs = job.NoGPUs
		}
		return err
	}},
	{"time", func(f *job.NeedsFrom) *int { return &f.Time }, func(n *job.Needs, where, value string) error {
		g, err := GrowTime(where, value)
		n.TimeLimit, n.MaxTimeLimit = g.First, g.more()
		return err
	}},
	{"ranks", func(f *job.NeedsFrom) *int { return &f.Ranks }, func(n *job.Needs, where, value string) (err error) {
		n.Ranks, err = Count(where, value, 1, job.MaxRanks)
		return err
	}},
}

// RanksPerNode reads how many ranks of a single task each node has.
func RanksPerNode(n *job.Needs, where, value string) (err error) {
	n.RanksPerNode, err = Count(where, value, 1, job.MaxRanks)
	return err
}

// TakeNeeds finds the columns of the entries from which tasks get their needs, and returns the entries without the line of names, if there is one.
func (s *BagSources) TakeNeeds(b *job.BagSpec, entries []job.Entry) ([]job.Entry, error) {
	var found job.NeedsFrom
	named := false
	for i, c := range Needs {
		said, flag := s.needs[i], "--"+c.Name+"-from"
		if said == "" {
			continue
		}
		if s.Columns == nil && widest(entries) < 2 {
			return entries, job.ArgumentError(flag, "entries have no columns", "say with --colsep what separates them")
		}
		n, err := strconv.Atoi(said)
		if err != nil && len(entries) > 0 {
			n, named = 1+slices.Index(entries[0], said), true
		}
		if most := widest(entries); err == nil && n > most && most > 0 {
			return entries, job.ArgumentError(flag, fmt.Sprintf("no entry has a column %d, as the longest has %s", n, job.Count(most, "column")),
				"number the columns from 1")
		}
		if err != nil && n > 0 && slices.Contains(entries[0][n:], said) {
			return entries, job.ArgumentError(flag, fmt.Sprintf("the first line names two columns %q", said), "write the number of the column, from 1, and remove that line")
		}
		if n < 1 {
			return entries, job.ArgumentError(flag, fmt.Sprintf("the first line names no column %q", said), "write a name that stands there, or the number of the column, from 1")
		}
		*c.column(&found) = n
	}
	if found == (job.NeedsFrom{}) {
		return entries, nil
	}
	if b.NeedsFrom = &found; named {
		entries = entries[1:]
	}
	for i, e := range entries {
		if _, err := OwnNeeds(b, e); err != nil {
			line := i + 1
			if named {
				line++
			}
			return entries, inLine(err, cmp.Or(s.EachLine, s.Where), line)
		}
	}
	return entries, nil
}

// inLine adds the line of an input to an error.
func inLine(err error, from string, line int) error {
	if e, ok := err.(*job.Error); ok {
		e.Where = fmt.Sprintf("%s:%d: %s", from, line, e.Where)
	}
	return err
}

// OwnNeeds returns the needs that the columns of an entry give its task.
func OwnNeeds(b *job.BagSpec, e job.Entry) (n job.Needs, err error) {
	if b.NeedsFrom == nil {
		return n, nil
	}
	for _, c := range Needs {
		at := *c.column(b.NeedsFrom)
		if at < 1 || at > len(e) || strings.TrimSpace(e[at-1]) == "" {
			continue
		}
		if err := c.Read(&n, c.Name+"-from", e[at-1]); err != nil {
			return n, err
		}
	}
	return n, nil
}
