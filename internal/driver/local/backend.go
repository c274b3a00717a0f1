package local

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Backend is the backend of this machine.
type Backend struct {
	Batch []driver.BatchWords // of batch systems: a command may be part of a job of one
}

// Name returns "local".
func (Backend) Name() string { return Name }

// Detect returns true.
func (Backend) Detect([]string) bool { return true }

// Observe returns the machine as a cluster of one node, all of it free that a process with the environment env may use.
func (b Backend) Observe(_ context.Context, env []string, at job.Time, _ *job.Request) (driver.Observation, error) {
	m, err := ThisMachine()
	if err != nil {
		return driver.Observation{}, err
	}
	var has driver.BatchCores
	for _, w := range b.Batch {
		of := w.Cores(env, m.Host)
		has.Least(of.Variable, of.N)
	}
	notes := m.limit(has)
	return driver.Observation{Snapshot: m.Snapshot(at), NodeType: m.NodeType(), Notes: notes}, nil
}

// New returns the driver for this machine. It ends the workers of allocations that no coordinator knows any more.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	m, err := ThisMachine()
	if err != nil {
		return nil, err
	}
	return Open(Options{Setup: s, Dir: filepath.Join(s.State, "allocs"), Scratch: scratchRoot(os.TempDir(), filepath.Join(s.Shared, "scratch"), driver.ScratchIn("/var/tmp")), Machine: m}), nil
}

// scratchRoot returns the folder for intermediate data. The folder for temporary files says on which disk, but tasks and
// cleaners remove what is in it. So it is one of the others, if it is on that disk, or else a hidden one in it, which
// rm -rf "$TMPDIR"/* leaves alone.
func scratchRoot(temporary string, others ...string) string {
	var disk, at unix.Stat_t
	if unix.Stat(temporary, &disk) == nil {
		for _, dir := range others {
			parent := filepath.Dir(dir)
			if unix.Stat(parent, &at) == nil && at.Dev == disk.Dev && unix.Access(parent, unix.W_OK|unix.X_OK) == nil {
				return dir
			}
		}
	}
	own := driver.ScratchIn(temporary)
	return filepath.Join(filepath.Dir(own), "."+filepath.Base(own))
}
