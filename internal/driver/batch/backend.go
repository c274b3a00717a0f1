package batch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Backend makes a batch system a backend. The function returns the batch system as it is reached in an environment.
type Backend func(env []string) System

var _ driver.BatchBackend = Backend(nil)

// Name returns the batch system's name, as in --on.
func (p Backend) Name() string { return p.Words().Name }

// Detect reports whether the machine belongs to a cluster of the batch system.
func (p Backend) Detect(env []string) bool { return p(env).Detect() }

// Available returns nil if the batch system answers in an environment, else the reason as an error.
func (p Backend) Available(ctx context.Context, env []string) error { return p(env).Available(ctx) }

// Words returns the batch system's own names.
func (p Backend) Words() driver.BatchWords { return p(nil).Words() }

// folder returns the folder of all allocations inside the coordinator's folder.
func (p Backend) folder(state string) string { return filepath.Join(state, p.Name()) }

// Reachable reports whether the commands are installed, or an environment is remembered in which they were.
func (p Backend) Reachable(env []string, state string) bool {
	if p(env).Installed() {
		return true
	}
	_, err := os.Stat(environmentsIn(p.folder(state)))
	return err == nil
}

// JobOf returns the id of the batch job that runs an allocation, read from the allocation's folder, or "" if none is known.
func (p Backend) JobOf(state string, id job.AllocID) string {
	noted, _ := (&alloc{dir: filepath.Join(p.folder(state), string(id))}).noted(p(nil))
	return noted
}

// Observe returns the nodes and the queue. Options that the request leaves empty get the defaults of the user's
// environment. All nodes of a partition have the same key for profiles.
func (p Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (seen driver.Observation, err error) {
	system := p(env)
	if err := system.Available(ctx); err != nil { // the other commands would fail much later
		return seen, err
	}
	of := system.Words()
	if r.ArgsFlag != "" && r.ArgsFlag != of.Flag {
		return seen, job.ArgumentError("--"+r.ArgsFlag, "its arguments are for another batch system than "+of.Name, strings.TrimSuffix("leave it out, or use --"+of.Flag, ", or use --"))
	}
	if of.NoQOS && r.QOS != "" {
		return seen, job.ArgumentError("--qos", of.System+" has no quality of service", "leave it out, or name a queue with --partition")
	}
	all, notes := system.Defaults()
	r.Partition, r.Account = cmp.Or(r.Partition, all.Partition), cmp.Or(r.Account, all.Account)
	r.QOS, r.Constraint = cmp.Or(r.QOS, all.QOS), cmp.Or(r.Constraint, all.Constraint)
	for _, arg := range all.Args {
		name, _, _ := strings.Cut(arg, "=")
		if !slices.ContainsFunc(r.BatchArgs, func(given string) bool { return strings.HasPrefix(given, name) }) {
			r.BatchArgs, r.ArgsFlag = append(r.BatchArgs, arg), of.Flag
		}
	}
	snap, err := system.Snapshot(ctx, "")
	if err != nil {
		return seen, err
	}
	snap.At = at
	nodes := strings.Join([]string{snap.Driver, snap.Queue.Cluster, cmp.Or(r.Partition, snap.Queue.DefaultPartition())}, ":")
	return driver.Observation{Snapshot: snap, NodeType: nodes, Notes: notes, Tester: system}, nil
}

// New returns the driver for all clusters of the batch system to which jobs of this machine go. Files for the nodes are
// in the state folder, which the nodes see. Map output is in the shared folder, so that it outlives the allocation that wrote it, unless
// the request names another folder.
func (p Backend) New(s driver.Setup) (driver.Driver, error) {
	d := New(Options{Setup: s, System: p, Dir: p.folder(s.State), Scratch: filepath.Join(s.Shared, "scratch"), Poll: 5 * time.Second, RetryFirst: time.Second, RetryMax: 5 * time.Minute})
	if err := d.Sweep(slices.Concat(s.Known, s.Uncleared)); err != nil {
		s.Log.Warn("the remains of ended allocations cannot be listed", "err", err)
	}
	return d, nil
}
