package wire

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/gpus"
)

// WorkerConfig is the configuration with which a worker process is started, in a file of mode 0600.
type WorkerConfig struct {
	Bundle     string        `json:"bundle"` // path of the file with its keys and the coordinator's addresses
	Node       job.NodeID    `json:"node"`
	Capacity   job.Resources `json:"capacity"`
	CPUs       []int         `json:"cpus,omitempty"`  // ids of the cores of its share, to which it and its tasks are bound; empty: all cores, without binding
	GPUs       gpus.Devices  `json:"gpus,omitzero"`   // of its share; the worker finds out about those that a batch system gave it, or that its host has
	Scratch    string        `json:"scratch"`         // folder for intermediate data, in which the worker creates its own folder
	Local      string        `json:"local,omitempty"` // folder on the node's own disk that the user named (job.Request.Scratch), for tasks that run there; empty: in its TMPDIR
	SortMemory int64         `json:"sort_memory"`     // bytes that sort buffers and the worker itself may use; 0: 256 MiB
	// Rates is what the user specified about the disks and networks of nodes. Constraint is the
	// constraint with which the nodes were requested.
	Rates      job.NodeRates `json:"rates,omitzero"`
	Constraint string        `json:"constraint,omitempty"`
	// Nodes is a folder with the measured disk rates of nodes, one file for each; empty: nothing is
	// measured. Disk is the folder whose disk is measured: Scratch, or the parent of the
	// allocations' folders. Sharers is how many workers share the node's disk and network,
	// including this one; 0 means 1.
	Nodes   string `json:"nodes,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Sharers int    `json:"sharers,omitempty"`
	// Trace is a folder with what was learned about programs whose functions are counted; empty:
	// nothing is stored.
	Trace string `json:"trace,omitempty"`
	// Token is the content of the file TokenName in Scratch if the coordinator's machine and all
	// nodes of the allocation see that folder. Scratch then belongs to the allocation, and the
	// driver removes what the worker leaves in it. If Token is empty, Scratch is the user's folder
	// on this machine.
	Token string `json:"token,omitempty"`
	// Remote is the host on which the worker runs; nil: the machine with this file.
	Remote *Remote `json:"remote,omitempty"`
	// StandIn is what the worker needs to start a stand-in coordinator; nil: it does not start one.
	StandIn *StandIn `json:"stand_in,omitempty"`
}

// Remote is a host on which a worker runs, and how to reach it.
type Remote struct {
	Host    job.Host `json:"host"`
	Command string   `json:"command,omitempty"` // job.Remote.Command
	Agent   string   `json:"agent,omitempty"`   // job.Remote.Agent
	Options []string `json:"options,omitempty"` // further options of that program, one word each
	Up      string   `json:"up,omitempty"`      // file that is created once the worker on the host is running
	Scratch string   `json:"scratch,omitempty"` // the user's folder for intermediate data (job.Request.Scratch)
	On      string   `json:"on,omitempty"`      // backend of the allocation (job.AllocRequest.On)
}

// StandInArgs are the arguments that start a stand-in. With WakeArgs it first waits until a
// stand-in is needed.
var (
	StandInArgs = []string{"server", "run", "--as-stand-in"}
	WakeArgs    = []string{"server", "run", "--as-stand-in", "--wait"}
)

// StandIn is what a process in a batch job needs to start a coordinator after the last one has
// ended.
type StandIn struct {
	After time.Duration `json:"after_ns"` // how long a worker searches for a coordinator before it starts one
	Env   []string      `json:"env"`      // in addition to the environment of the batch job
	Log   string        `json:"log"`      // path of the log of coordinators
}
