package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/job"
)

// WorkerConfig is what a worker process is told, in a file of mode 0600.
type WorkerConfig struct {
	Bundle     string        `json:"bundle"` // path of its keys and the coordinator's address
	Node       job.NodeID    `json:"node"`
	Capacity   job.Resources `json:"capacity"`
	CPUs       []int         `json:"cpus,omitempty"` // ids of the cores of its share; empty: it shares them all
	Scratch    string        `json:"scratch"`
	SortMemory int64         `json:"sort_memory"`
	// Token is what the file TokenName in Scratch says where that folder is the one that
	// the coordinator sees under this path; empty: it is not known to be.
	Token string `json:"token,omitempty"`
	// StandIn is what the worker needs to start a stand-in coordinator; nil: it starts none.
	StandIn *StandIn `json:"stand_in,omitempty"`
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

// ScratchIn returns the folder of the user's own for intermediate data in a folder,
// which may be shared with others, as /tmp is, or hold other things.
func ScratchIn(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("berth-%d", os.Getuid()))
}

// LastLine returns the last line of a log that says anything, bytes beyond maxLastLine cut off.
func LastLine(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	text := strings.TrimSpace(string(b[max(0, len(b)-maxLastLine):]))
	if text == "" {
		return "it says nothing"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// maxLastLine bounds what is shown of a log, bytes.
const maxLastLine = 1000
