package wire

import (
	"time"

	"berth/internal/job"
)

// WorkerConfig is what a worker process is told when it is started, in a file of mode 0600.
type WorkerConfig struct {
	Bundle     string        `json:"bundle"` // path of its keys and the coordinator's address
	Node       job.NodeID    `json:"node"`
	Capacity   job.Resources `json:"capacity"`
	CPUs       []int         `json:"cpus,omitempty"` // ids of the cores of its share, to which it and its tasks are bound; empty: it shares them all
	Scratch    string        `json:"scratch"`        // folder for intermediate data; the worker makes a folder of its own in it
	SortMemory int64         `json:"sort_memory"`    // bytes that sort buffers and the worker itself may use; 0: 256 MiB
	// Rates is what the user told of disks and networks of nodes, Constraint what the nodes were asked for by.
	Rates      job.NodeRates `json:"rates,omitzero"`
	Constraint string        `json:"constraint,omitempty"`
	// Nodes is a folder that keeps what was measured of the disks of nodes, a file for each; empty: nothing is measured.
	// Disk is the folder whose disk counts: Scratch, or what allocations have their own folders in.
	// Sharers is how many workers share the node's disk and network, itself included; 0: 1.
	Nodes   string `json:"nodes,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Sharers int    `json:"sharers,omitempty"`
	// Trace is a folder that keeps what is learned of programs whose functions are counted; empty: it is not kept.
	Trace string `json:"trace,omitempty"`
	// Token is what the file TokenName in Scratch holds where the coordinator's machine and all
	// nodes of the allocation see that folder. With one, Scratch is the allocation's and what
	// outlives the worker in it is the driver's to remove; empty: it is the user's on this machine.
	Token string `json:"token,omitempty"`
	// Remote is the host on which the worker runs, where that is not the machine that this file is on; nil: it is.
	Remote *Remote `json:"remote,omitempty"`
	// StandIn is what the worker needs to start a stand-in coordinator; nil: it starts none.
	StandIn *StandIn `json:"stand_in,omitempty"`
}

// Remote is a host on which a worker runs, and how it is reached.
type Remote struct {
	Host    job.Host `json:"host"`
	Command string   `json:"command,omitempty"` // job.Remote.Command
	Agent   string   `json:"agent,omitempty"`   // job.Remote.Agent
	Options []string `json:"options,omitempty"` // further ones of that program, a word each
	Up      string   `json:"up,omitempty"`      // file that is to be made once the worker there is up
	Scratch string   `json:"scratch,omitempty"` // folder that the user named for intermediate data (job.Request.Scratch)
	On      string   `json:"on,omitempty"`      // backend of the allocation (job.AllocRequest.On)
}

// StandInArgs are the arguments with which berth is a stand-in, WakeArgs those with which it
// waits until one is needed.
var (
	StandInArgs = []string{"server", "run", "--as-stand-in"}
	WakeArgs    = []string{"server", "run", "--as-stand-in", "--wait"}
)

// StandIn is what a process in a batch job needs to start a coordinator that carries on where
// no other is left.
type StandIn struct {
	After time.Duration `json:"after_ns"` // how long a worker looks for a coordinator before
	Env   []string      `json:"env"`      // beside the environment of the batch job
	Log   string        `json:"log"`      // path of the coordinators' log
}

// TokenName is the name of the file that tells a scratch folder on a shared file system
// from one of the same path on another machine.
const TokenName = "token"

// MaxToken bounds what is read of that file, bytes; a token has 32.
const MaxToken = 4 << 10
