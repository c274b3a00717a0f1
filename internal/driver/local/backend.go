package local

import (
	"context"
	"os"
	"path/filepath"

	"berth/internal/driver"
	"berth/internal/job"
)

// Backend is this machine as a backend.
type Backend struct{}

var _ driver.Backend = Backend{}

// Name returns "local".
func (Backend) Name() string { return Name }

// Detect returns true.
func (Backend) Detect([]string) bool { return true }

// Observe returns the machine as a cluster of one node that is free.
func (Backend) Observe(_ context.Context, _ []string, at job.Time, _ *job.Request) (driver.Observation, error) {
	m, err := ThisMachine()
	if err != nil {
		return driver.Observation{}, err
	}
	return driver.Observation{Snapshot: m.Snapshot(at, job.Resources{}), NodeType: m.NodeType()}, nil
}

// New returns the driver for this machine. The workers of allocations that nobody knows any more are ended.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	m, err := ThisMachine()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.State, "allocs")
	if err := Sweep(dir, s.Known); err != nil {
		s.Log.Warn("an allocation that is over leaves something", "err", err)
	}
	return New(Options{Setup: s, Dir: dir, Scratch: driver.ScratchIn(os.TempDir()), Machine: m}), nil
}
