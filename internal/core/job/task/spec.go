package task

import (
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

// At returns the position of the task in its input, for errors.
func (s *Spec) At(from string) string { return place(from, s.Line) }

// CheckIn returns an error for a task that its bag cannot run.
func (s *Spec) CheckIn(from string, bag *job.Spec) error {
	r := &bag.Request
	if s.RanksPerNode > 0 && s.Ranks == 0 && bag.Bag.Ranks == 0 {
		return job.ConfigError(s.At(from)+": ranks_per_node", "the task has no ranks", "say with ranks how many")
	}
	if why := r.NoGangs(); s.Several() && why != "" {
		return job.ConfigError(s.At(from)+": ranks", why, "")
	}
	if s.Dir != "" && r.Remote.Away() {
		return job.ConfigError(s.At(from)+": dir", "the tasks of this bag run on machines without your files, in the folder of the bag", "leave the key out")
	}
	return nil
}

// Ref names a task of the bag: by its name or, if that is empty, by its id, counted from 0.
type Ref struct {
	Name string
	ID   int
}
