package local

import (
	"context"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Backend is the backend of this machine.
type Backend struct{}

var _ driver.Backend = Backend{}

// Name returns "local".
func (Backend) Name() string { return Name }

// Detect returns true.
func (Backend) Detect([]string) bool { return true }

// Observe returns the machine as a cluster of one node, all of it free.
func (Backend) Observe(_ context.Context, _ []string, at job.Time, _ *job.Request) (driver.Observation, error) {
	m, err := ThisMachine()
	if err != nil {
		return driver.Observation{}, err
	}
	return driver.Observation{Snapshot: m.Snapshot(at, job.Resources{}), NodeType: m.NodeType()}, nil
}

// New returns the driver for this machine. It ends the workers of allocations that no coordinator knows any more.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	m, err := ThisMachine()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.State, "allocs")
	if err := Sweep(dir, s.Known); err != nil {
		s.Log.Warn("the remains of ended allocations cannot be removed", "err", err)
	}
	return New(Options{Setup: s, Dir: dir, Scratch: driver.ScratchIn(os.TempDir()), Machine: m}), nil
}
