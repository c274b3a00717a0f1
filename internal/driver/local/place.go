package local

import (
	"context"
	"os"
	"path/filepath"

	"berth/internal/driver"
	"berth/internal/job"
)

// Place is this machine as a place to run.
type Place struct{}

var _ driver.Place = Place{}

// Name returns "local".
func (Place) Name() string { return Name }

// Here returns true.
func (Place) Here([]string) bool { return true }

// Look returns the machine as a cluster of one node that is free.
func (Place) Look(_ context.Context, _ []string, at job.Time, _ *job.Request) (driver.Sight, error) {
	m, err := ThisMachine()
	if err != nil {
		return driver.Sight{}, err
	}
	return driver.Sight{Snapshot: m.Snapshot(at, job.Resources{}), NodeType: m.NodeType()}, nil
}

// New returns the driver for this machine. The workers of allocations that nobody knows any more are ended.
func (Place) New(s driver.Setup) (driver.Driver, error) {
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
