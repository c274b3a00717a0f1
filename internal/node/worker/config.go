package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/wire"
)

// Defaults of a Config's fields.
const (
	defaultMaxOrphan  = 10 * time.Minute
	defaultGrace      = 5 * time.Second
	defaultIdle       = 10 * time.Second
	defaultSortMemory = 256 << 20
)

// Tunnel is a connection over which a worker reaches its coordinator and other nodes.
type Tunnel interface {
	// DialCoordinator connects to the coordinator with the keys of a bundle, whatever its addresses.
	DialCoordinator(ctx context.Context, b *wire.Bundle) (*wire.Conn, error)
	shuffle.Tunnel
}

// Config configures a worker.
type Config struct {
	wire.WorkerConfig

	// Tunnel connects to the coordinator and to other nodes if the network cannot; nil: the network does (wire.Dial).
	Tunnel Tunnel `json:"-"`

	// Files transfers the files of jobs, and Cache stores them, on a host that does not see the folders of jobs; nil: it sees them.
	Files *transfer.Client `json:"-"`
	Cache *transfer.Cache  `json:"-"`

	MaxOrphan time.Duration // the worker ends after this time without a coordinator; 0: ten minutes
	Grace     time.Duration // time between SIGTERM and SIGKILL; 0: five seconds
	Idle      time.Duration // time after which what a program has left is ended if it does nothing; 0: ten seconds

	// StandInCommand starts a stand-in on this node if no coordinator has answered for StandIn.After, plus up to half of
	// that time. It is not used without StandIn.
	StandInCommand []string

	// SweepCommand runs Sweep for the folder that is added to it; empty: nothing is done when the worker is killed.
	SweepCommand []string

	Variables process.BatchVariables // of batch systems, in the environments of tasks

	NodeType string // of the machine's processors (predict.NodeType); empty: not told

	Rand *rand.Rand   // jitter between dials; nil: seeded from Node
	Log  *slog.Logger // nil: discards
}

// normalize checks the config and fills in defaults.
func (c Config) normalize() (Config, error) {
	bad := func(what string) (Config, error) {
		return c, &job.Error{Class: job.Fatal, Code: job.CodeConfig, Where: "worker", What: what}
	}
	switch {
	case c.Bundle == "":
		return bad("no path of a key bundle is given")
	case c.Node == "":
		return bad("no node id is given")
	case c.Capacity.CPUs < 1:
		return bad(fmt.Sprintf("%d CPUs are too few", c.Capacity.CPUs))
	case !filepath.IsAbs(c.Scratch):
		return bad(fmt.Sprintf("the scratch folder %q is not an absolute path", c.Scratch))
	}
	c.Capacity.GPUs = min(c.Capacity.GPUs, c.GPUs.Count)
	c.SortMemory = cmp.Or(c.SortMemory, defaultSortMemory)
	c.MaxOrphan, c.Grace, c.Idle = cmp.Or(c.MaxOrphan, defaultMaxOrphan), cmp.Or(c.Grace, defaultGrace), cmp.Or(c.Idle, defaultIdle)
	c.Rand = cmp.Or(c.Rand, rand.New(rand.NewPCG(uint64(len(c.Node)), files.Hash(string(c.Node)))))
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c, nil
}

// ownMemory is what the worker itself takes at least beside sort buffers: its
// program text, stacks and a small heap, bytes.
const ownMemory = 40 << 20

// buffers returns the size of the buffers of all attempts in bytes: the sort memory minus a quarter of it, or minus the
// memory that the worker itself needs if that is more.
func (c Config) buffers() int64 {
	return max(c.SortMemory-max(c.SortMemory/4, ownMemory), c.SortMemory/4)
}

// ownFiles is how many descriptors the worker itself takes at most beside merges and
// connections: its log, folders, locks, and the pipes of a task on each core.
const ownFiles = 64

// files returns the number of files that the merges of all attempts may have open: half of what the process may open apart
// from its own files. The other half is for pipes, connections and served files. The Go runtime has raised the soft limit to
// the hard limit at the start of the process.
func (c Config) files() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return extsort.MaxFanIn * c.Capacity.CPUs
	}
	return max((int(min(limit.Cur, 1<<30))-ownFiles)/2, 0)
}
