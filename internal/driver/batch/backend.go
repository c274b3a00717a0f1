package batch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/driver"
	"berth/internal/job"
)

// Backend is a batch system as a backend: the function returns the batch system as it is reached in an environment.
type Backend func(env []string) System

var _ driver.BatchBackend = Backend(nil)

// Name is what --on calls the batch system.
func (p Backend) Name() string { return p(nil).Words().Name }

// Detect reports whether the machine belongs to a cluster of the batch system.
func (p Backend) Detect(env []string) bool { return p(env).Detect() }

// Inside returns the id of the batch job that a process with that environment is part of, empty for none.
func (p Backend) Inside(env []string) string { return p(env).Inside() }

// folder returns the folder of all allocations, given that of the coordinator.
func (p Backend) folder(state string) string { return filepath.Join(state, p.Name()) }

// Reachable reports whether the commands are there, or an environment is remembered in which they were.
func (p Backend) Reachable(env []string, state string) bool {
	if p(env).Installed() {
		return true
	}
	_, err := os.Stat(environmentsIn(p.folder(state)))
	return err == nil
}

// JobOf returns the id of the batch job that is an allocation, by the allocation's folder; empty where none is known.
func (p Backend) JobOf(state string, id job.AllocID) string {
	noted, _ := (&alloc{dir: filepath.Join(p.folder(state), string(id))}).noted(p(nil))
	return noted
}

// Observe returns the queue. What the user's environment says of all their jobs holds for this one where it
// says nothing itself. Nodes of one partition are taken for alike.
func (p Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (driver.Observation, error) {
	system := p(env)
	if err := system.Available(ctx); err != nil { // the other commands would take long to say so
		return driver.Observation{}, err
	}
	all := system.Defaults()
	r.Partition, r.Account = cmp.Or(r.Partition, all.Partition), cmp.Or(r.Account, all.Account)
	r.QOS, r.Constraint = cmp.Or(r.QOS, all.QOS), cmp.Or(r.Constraint, all.Constraint)
	snap, err := system.Snapshot(ctx, "")
	if err != nil {
		return driver.Observation{}, err
	}
	snap.At = at
	nodes := strings.Join([]string{snap.Driver, snap.Queue.Cluster, cmp.Or(r.Partition, snap.Queue.DefaultPartition())}, ":")
	return driver.Observation{Snapshot: snap, NodeType: nodes, Tester: system}, nil
}

// New returns the driver for all clusters of the batch system that jobs of this machine go to. What the nodes need lies
// in the state folder, which they see, and so does map output, so that it outlives the allocation that made it, unless the request
// says otherwise.
func (p Backend) New(s driver.Setup) (driver.Driver, error) {
	d := New(Options{Setup: s, System: p, Dir: p.folder(s.State), Scratch: filepath.Join(s.Shared, "scratch")})
	if err := d.Sweep(slices.Concat(s.Known, s.Uncleared)); err != nil {
		s.Log.Warn("an allocation that is over leaves something", "err", err)
	}
	return d, nil
}
