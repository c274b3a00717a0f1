package task

import (
	"time"

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

	Needs `msgpack:",inline"`

	After []Ref `msgpack:"-"` // the tasks that must be done before it
}

// Needs is what decides where a task may run and how it is predicted. Tasks with equal needs are of one class of tasks.
type Needs struct {
	CPUs        int           `msgpack:"nc,omitempty"`
	Mem         int64         `msgpack:"nm,omitempty"` // bytes
	GPUs        int           `msgpack:"ng,omitempty"`
	GPUType     string        `msgpack:"gt,omitempty"`
	TimeLimit   time.Duration `msgpack:"tl,omitempty"` // of one attempt
	Attempts    int           `msgpack:"at,omitempty"` // how often it is started at most, if it fails
	Application string        `msgpack:"ap,omitempty"`
}

// Ref names a task of the bag: by its name or, if that is empty, by its id, counted from 0.
type Ref struct {
	Name string
	ID   int
}
