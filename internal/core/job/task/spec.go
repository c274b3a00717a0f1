package task

import (
	"fmt"

	"berth/internal/core/job"
)

// Spec is one task as its line describes it. The zero value of a field means "as for the bag".
type Spec struct {
	Line int `msgpack:"-"` // of the input, from 1

	Name    string    `msgpack:"n,omitempty"`
	Command []string  `msgpack:"c,omitempty"` // with Shell one element, a command for the shell; nil: the bag's, with Entry
	Shell   bool      `msgpack:"s,omitempty"`
	Entry   job.Entry `msgpack:"e,omitempty"`

	Dir     string   `msgpack:"d,omitempty"` // absolute, or relative to the job's folder
	Env     []string `msgpack:"v,omitempty"` // NAME=VALUE, beside and before the bag's
	Stdout  string   `msgpack:"o,omitempty"` // path template, as of the bag
	Stderr  string   `msgpack:"r,omitempty"`
	Outputs []string `msgpack:"p,omitempty"`

	job.Needs `msgpack:",inline"` // of its own

	After []Ref `msgpack:"-"` // the tasks that must be done before it
}

// Plain reports whether a task has only an entry, and everything else as its bag.
func (s *Spec) Plain() bool {
	return s.Command == nil && s.Dir == "" && s.Env == nil && s.Stdout == "" && s.Stderr == "" && s.Outputs == nil && s.Needs == job.Needs{}
}

// CheckIn returns an error for a task that needs what its bag cannot give. apart says that its tasks run on machines that do
// not have the user's files.
func (s *Spec) CheckIn(from string, bag *job.BagSpec, apart bool) error {
	where := place(from, s.Line) + ": "
	switch {
	case s.CPUs > bag.Need.CPUs:
		return job.ConfigError(where+"cpus", fmt.Sprintf("a task of this bag can have at most %d", bag.Need.CPUs), "submit the bag with a larger -c")
	case bag.Need.Mem > 0 && s.Mem > bag.Need.Mem, bag.Need.Mem == 0 && s.Mem > 0:
		return job.ConfigError(where+"mem", "a task of this bag can have at most "+job.FormatSize(bag.Need.Mem), "submit the bag with a larger --mem")
	case s.GPUs > 0:
		return job.ConfigError(where+"gpus", "tasks cannot ask for GPUs yet", "leave the key out")
	case s.Attempts > 0 && s.Attempts != bag.Retries+1:
		return job.ConfigError(where+"retries", fmt.Sprintf("all tasks of this bag have %d", bag.Retries), "submit the bag with other --retries")
	case s.Application != "":
		return job.ConfigError(where+"application", "all tasks of a bag are of one application", "submit the bag with --application "+s.Application)
	case s.Dir != "" && apart:
		return job.ConfigError(where+"dir", "the tasks of this bag run on machines without your files, in the folder of the bag", "leave the key out")
	}
	return nil
}

// Ref names a task of the bag: by its name or, if that is empty, by its id, counted from 0.
type Ref struct {
	Name string
	ID   int
}
