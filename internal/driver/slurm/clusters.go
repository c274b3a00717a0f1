package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/home"
	"berth/internal/job"
)

// Clusters is the driver for all clusters that a user's jobs were submitted to. The environment
// of the command that submitted a job says which one that is (SLURM_CONF, a module), not
// that of the coordinator, which may be older than the module was loaded. Each cluster has a Driver
// of its own, which runs Slurm's commands in the environment of the last job that came for it: the
// command that submitted it has just looked at the queue in that environment.
//
// Environments are remembered in files of mode 0600 beside Options.Dir, for later coordinators.
type Clusters struct {
	opts Options // of each driver

	mu sync.Mutex
	by map[string]*Driver // by cluster.Queue.ID
}

var (
	_ driver.Driver  = (*Clusters)(nil)
	_ driver.Watcher = (*Clusters)(nil)
)

// NewClusters returns a driver for any cluster. Options.Env leads to the one of requests that
// name none, as those of older versions.
func NewClusters(opts Options) *Clusters {
	return &Clusters{opts: opts, by: make(map[string]*Driver)}
}

// Name returns "slurm".
func (c *Clusters) Name() string { return Name }

// EnvironmentsIn returns the folder of the remembered environments, given that of the allocations.
func EnvironmentsIn(dir string) string { return dir + "-env" }

func (c *Clusters) environment(id string) string {
	return filepath.Join(EnvironmentsIn(c.opts.Dir), id+".json")
}

// Use remembers the environment of a command that has just reached the cluster, and has Slurm's
// commands run in it from now on.
func (c *Clusters) Use(id string, env []string) error {
	if err := os.MkdirAll(EnvironmentsIn(c.opts.Dir), 0o700); err != nil {
		return folderError(EnvironmentsIn(c.opts.Dir), err)
	}
	if err := home.WriteJSON(c.environment(id), env); err != nil {
		return err
	}
	c.Of(id).Use(env)
	return nil
}

// Of returns the driver of a cluster. Where no environment is remembered for it, that is the
// one of Options.
func (c *Clusters) Of(id string) *Driver {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.by[id]; d != nil {
		return d
	}
	opts := c.opts
	opts.Cluster = id
	var env []string
	switch err := home.ReadJSON(c.environment(id), &env); {
	case err == nil:
		opts.Env = env
	case id != "" && c.opts.Log != nil:
		c.opts.Log.Warn("the environment of a cluster is not known; that of the coordinator is used", "cluster", id, "err", err)
	}
	d := New(opts)
	c.by[id] = d
	return d
}

// holder returns the driver whose allocation has that id, by its folder.
func (c *Clusters) holder(id job.AllocID) *Driver {
	b, err := os.ReadFile(filepath.Join(c.opts.Dir, string(id), clusterFile))
	if err != nil { // it is of an older version, or never was
		return c.Of("")
	}
	return c.Of(string(b))
}

// Snapshot is that of the cluster that Options.Env leads to.
func (c *Clusters) Snapshot(ctx context.Context) (cluster.Snapshot, error) {
	return c.Of("").Snapshot(ctx)
}

// Request submits a job for the allocation to its cluster.
func (c *Clusters) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return c.Of(req.Batch.Cluster).Request(ctx, id, req)
}

// Adopt takes up an allocation of an earlier coordinator.
func (c *Clusters) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	return c.Of(req.Batch.Cluster).Adopt(ctx, id, req)
}

// Release cancels the allocation's job.
func (c *Clusters) Release(ctx context.Context, id job.AllocID) error {
	return c.holder(id).Release(ctx, id)
}

// Clear removes the allocation's folders, once its job has ended.
func (c *Clusters) Clear(ctx context.Context, id job.AllocID) error {
	return c.holder(id).Clear(ctx, id)
}

// Look asks for the allocation's job soon, as a worker of it has gone.
func (c *Clusters) Look(id job.AllocID) { c.holder(id).Look(id) }

// Sweep cancels the jobs of allocations that nobody knows any more, and removes their folders
// (Driver.Sweep).
func (c *Clusters) Sweep(known []job.AllocID) error {
	ids, err := unknown(c.opts.Dir, known)
	for _, id := range ids {
		c.holder(id).sweep(id)
	}
	return err
}

// Close stops watching; allocations live on.
func (c *Clusters) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := make(chan error, len(c.by))
	for _, d := range c.by {
		go func() { errs <- d.Close() }()
	}
	var all error
	for range c.by {
		all = errors.Join(all, <-errs)
	}
	return all
}
