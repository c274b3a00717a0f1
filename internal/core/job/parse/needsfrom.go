package parse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// needColumns are the options that name the columns of entries from which tasks get their own needs, and how a value is read, as that of the
// option that it replaces.
var needColumns = [...]struct {
	name, of string
	column   func(*job.NeedsFrom) *int
	read     func(n *job.Needs, where, value string) error
}{
	{"cpus-from", "cores", func(f *job.NeedsFrom) *int { return &f.CPUs }, func(n *job.Needs, where, value string) (err error) {
		n.CPUs, err = from(1, job.MaxCPUs)(where, value)
		return err
	}},
	{"mem-from", "memory", func(f *job.NeedsFrom) *int { return &f.Mem }, func(n *job.Needs, where, value string) (err error) {
		g, err := GrowMem(where, value)
		if err == nil {
			n.Mem, n.MaxMem, err = g.Own(where)
		}
		return err
	}},
	{"gpus-from", "GPUs", func(f *job.NeedsFrom) *int { return &f.GPUs }, func(n *job.Needs, where, value string) (err error) {
		if n.GPUs, n.GPUType, err = GPUs(where, value); n.GPUs == 0 {
			n.GPUs = job.NoGPUs
		}
		return err
	}},
	{"time-from", "time limit", func(f *job.NeedsFrom) *int { return &f.Time }, func(n *job.Needs, where, value string) (err error) {
		g, err := GrowTime(where, value)
		if err == nil {
			n.TimeLimit, n.MaxTimeLimit, err = g.Own(where)
		}
		return err
	}},
}

// needOptions returns the options of needColumns.
func needOptions() []Option {
	options := make([]Option, len(needColumns))
	for i, c := range needColumns {
		options[i] = Option{Name: c.name, Alone: true, Arg: "COLUMN", set: func(a *Ask, _, value string) error {
			a.Sources.needs[i] = value
			return nil
		}, Usage: "column of entries with the " + c.of + " of each task, by its number or by its name in the first line, which is no entry then; an empty value is as for the bag"}
	}
	return options
}

// TakeNeeds finds the columns of the entries from which tasks get their needs, and returns the entries without the line of names, if there is one.
func (s *BagSources) TakeNeeds(b *job.BagSpec, entries []job.Entry) ([]job.Entry, error) {
	var found job.NeedsFrom
	named := false
	for i, c := range needColumns {
		said := s.needs[i]
		if said == "" {
			continue
		}
		if s.Columns == nil && widest(entries) < 2 {
			return entries, job.ArgumentError("--"+c.name, "entries have no columns", "say with --colsep what separates them")
		}
		n, err := strconv.Atoi(said)
		if err != nil && len(entries) > 0 {
			n, named = 1+slices.Index(entries[0], said), true
		}
		if most := widest(entries); err == nil && n > most && most > 0 {
			return entries, job.ArgumentError("--"+c.name, fmt.Sprintf("no entry has a column %d, as the longest has %s", n, job.Count(most, "column")),
				"number the columns from 1")
		}
		if err != nil && n > 0 && slices.Contains(entries[0][n:], said) {
			return entries, job.ArgumentError("--"+c.name, fmt.Sprintf("the first line names two columns %q", said), "write the number of the column, from 1, and remove that line")
		}
		if n < 1 {
			return entries, job.ArgumentError("--"+c.name, fmt.Sprintf("the first line names no column %q", said), "write a name that stands there, or the number of the column, from 1")
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
	for _, c := range needColumns {
		at := *c.column(b.NeedsFrom)
		if at < 1 || at > len(e) || strings.TrimSpace(e[at-1]) == "" {
			continue
		}
		if err := c.read(&n, c.name, e[at-1]); err != nil {
			return n, err
		}
	}
	return n, nil
}
