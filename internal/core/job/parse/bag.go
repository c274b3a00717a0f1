package parse

import (
	"fmt"
	"regexp"
	"strings"

	"berth/internal/core/job"
)

// ownSetters returns how the options are set whose values have no single place in a spec.
func ownSetters() map[string]func(a *Ask, where, value string) error {
	all := map[string]func(a *Ask, where, value string) error{
		"each-line":       setEachLine,
		"array":           setArray,
		"colsep":          setColsep,
		"null":            source(func(s *BagSources) *bool { return &s.Null }),
		"no-run-if-empty": source(func(s *BagSources) *bool { return &s.SkipEmpty }),
		"append":          source(func(s *BagSources) *bool { return &s.Append }),
		"time-limit":      setTimeLimit,
		"signal":          setSignal,
		"command":         setCommand,
		"deadline":        setDeadline,
		"nodes":           setNodes,
		"max-nodes": func(a *Ask, where, value string) (err error) {
			a.capNodes, err = Count(where, value, 1, job.MaxNodes)
			return err
		},
		"max-time": func(a *Ask, where, value string) (err error) {
			a.capTime, err = Limit(where, value)
			return err
		},
		"cpus-per-task": setCPUs,
		"mem":           setMem,
		"gpus":          setGPUs,
		"use":           setUse,
	}
	for i, c := range Needs {
		all[c.Name+"-from"] = func(a *Ask, _, value string) error {
			a.Sources.needs[i] = value
			return nil
		}
	}
	return all
}

func source(field func(*BagSources) *bool) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) (err error) {
		*field(&a.Sources), err = Bool(where, value)
		return err
	}
}

// ofBag remembers what Apply does with a bag.
func (a *Ask) ofBag(do func(*job.BagSpec)) {
	a.write(func(s *job.Spec) error {
		if s.Bag != nil {
			do(s.Bag)
		}
		return nil
	})
}

// needs returns what every kind of task of the job needs.
func needs(s *job.Spec) (all []*job.Resources) {
	if s.Bag != nil {
		all = append(all, &s.Bag.Need)
	}
	if s.MapReduce != nil {
		all = append(all, &s.MapReduce.MapNeed, &s.MapReduce.ReduceNeed)
	}
	return all
}

func setCPUs(a *Ask, where, value string) error {
	cpus, err := Count(where, value, 1, job.MaxCPUs)
	a.write(func(s *job.Spec) error {
		for _, n := range needs(s) {
			n.CPUs = cpus
		}
		return nil
	})
	return err
}

// setCommand changes the command with which a bag that is over goes on.
func setCommand(a *Ask, _, value string) error {
	a.write(func(s *job.Spec) error { return s.Bag.ChangeCommand(value) })
	return nil
}

func setNodes(a *Ask, where, value string) error {
	low, high, err := Nodes(where, value)
	a.first("nodes", where)
	a.write(func(s *job.Spec) error {
		s.Request.MinNodes, s.Request.MaxNodes = low, high
		return nil
	})
	return err
}

func setDeadline(a *Ask, where, value string) error {
	due, isDate := Date(value)
	deadline, err := Duration(where, value)
	if !isDate && (err != nil || deadline == 0) {
		return job.ConfigError(where, fmt.Sprintf("%q is neither a time after the submission nor a date with a time", value), "write 90m, 2h30m, or a date as in 2026-11-29T08:00")
	}
	a.write(func(s *job.Spec) error {
		r := &s.Request
		if r.Deadline = deadline; isDate {
			r.Due, r.Deadline = due, 0
		}
		return nil
	})
	return nil
}

// Progress checks the name of a source of progress.
func Progress(where, value string) (string, error) {
	if _, err := job.ProgressNamed(value); err != nil || value == "" {
		return "", job.ArgumentError(where, fmt.Sprintf("%q is not a source of progress", value), "use auto, input, instructions, io, cpu or hits")
	}
	return value, nil
}

func joblog(where, value string) (string, error) {
	if value == "-" {
		return "", job.ArgumentError(where, "the job log cannot go to standard output: the coordinator writes it, even after this command has ended",
			"name a file; write ./- if its name is -")
	}
	return value, nil
}

func jobs(where, value string) (ids []job.ID, err error) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return nil, job.ArgumentError(where, fmt.Sprintf("%q has an empty name of a job", value), "write ids or numbers of jobs, as in bag-3,bag-4")
		}
		ids = append(ids, job.ID(name))
	}
	return ids, nil
}

func setEachLine(a *Ask, where, value string) error {
	a.Sources.EachLine, a.Sources.Where = value, where
	return nil
}

func setColsep(a *Ask, where, value string) error {
	separator, err := regexp.Compile(value)
	if err != nil || value == "" {
		return job.ArgumentError(where, fmt.Sprintf("%q is not a regular expression that can separate columns", value), "write , or \\t, and put a backslash before characters like | and .")
	}
	a.Sources.Columns = separator
	return nil
}

func setArray(a *Ask, where, value string) error {
	indices, err := Array(where, value)
	a.Sources.Array, a.Sources.Where = &indices, where
	return err
}
