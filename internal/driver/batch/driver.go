package batch

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/home"
	"berth/internal/job"
)

// Driver is the driver for all clusters of a batch system that a user's jobs were submitted to. The environment
// of the command that submitted a job says which cluster that is (SLURM_CONF, a module), not
// that of the coordinator, which may be older than the module was loaded. Each cluster has a site
// of its own, which reaches the batch system in the environment of the last job that came for it: the
// command that submitted it has just looked at the queue in that environment.
//
// Environments are remembered in files of mode 0600 beside Options.Dir, for later coordinators.
type Driver struct {
	opts Options // of each site

	mu sync.Mutex
	by map[string]*site // by cluster.Queue.ID
}

var _ driver.Batch = (*Driver)(nil)

// New returns a driver that has no allocation yet.
func New(opts Options) *Driver {
	return &Driver{opts: opts.withDefaults(), by: make(map[string]*site)}
}

// environmentsIn returns the folder of the remembered environments, given that of the allocations.
func environmentsIn(dir string) string { return dir + "-env" }

func (d *Driver) environment(id string) string {
	return filepath.Join(environmentsIn(d.opts.Dir), id+".json")
}

// Use remembers the environment of a command that has just reached the cluster, and has
// the cluster reached in it from now on.
func (d *Driver) Use(id string, env []string) error {
	if err := os.MkdirAll(environmentsIn(d.opts.Dir), 0o700); err != nil {
		return folderError(environmentsIn(d.opts.Dir), err)
	}
	if err := home.WriteJSON(d.environment(id), env); err != nil {
		return err
	}
	d.of(id).use(env)
	return nil
}

// of returns the site of a cluster. Where no environment is remembered for it, it has the
// one of Options.
func (d *Driver) of(id string) *site {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.by[id]; s != nil {
		return s
	}
	env := d.opts.Env
	var remembered []string
	switch err := home.ReadJSON(d.environment(id), &remembered); {
	case err == nil:
		env = remembered
	case id != "":
		d.opts.Log.Warn("the environment of a cluster is not known; that of the coordinator is used", "cluster", id, "err", err)
	}
	s := newSite(d.opts, id, env)
	d.by[id] = s
	return s
}

// holder returns the site whose allocation has that id, by its folder.
func (d *Driver) holder(id job.AllocID) *site {
	b, err := os.ReadFile(filepath.Join(d.opts.Dir, string(id), clusterFile))
	if err != nil { // it is of an older version, or never was
		return d.of("")
	}
	return d.of(string(b))
}

// Snapshot returns the nodes and the queue of a cluster as they are now; of no name, of the one that Options.Env leads to.
func (d *Driver) Snapshot(ctx context.Context, id string) (cluster.Snapshot, error) {
	return d.of(id).snapshot(ctx)
}

// Test asks the request's cluster when a job for it would begin.
func (d *Driver) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	return d.of(req.Batch.Cluster).reached().Test(ctx, req)
}

// Request has a job submitted for the allocation, as soon as its cluster takes it.
func (d *Driver) Request(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	s := d.of(req.Batch.Cluster)
	return s.request(s.alloc(id, req))
}

// Adopt takes up an allocation of an earlier coordinator: its job is watched, or submitted
// if that coordinator did not come so far. Workers look after themselves.
func (d *Driver) Adopt(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	s := d.of(req.Batch.Cluster)
	return s.request(s.noted(id, req))
}

// Release cancels the allocation's job.
func (d *Driver) Release(_ context.Context, id job.AllocID) error {
	d.holder(id).release(id)
	return nil
}

// Clear removes the allocation's folders, once its job has ended.
func (d *Driver) Clear(_ context.Context, id job.AllocID) error { return d.holder(id).clear(id) }

// Look asks for the allocation's job soon, as a worker of it has gone.
func (d *Driver) Look(id job.AllocID) { d.holder(id).look(id) }

// Sweep cancels the jobs of allocations that nobody knows any more, and removes their
// folders: those whose journal was lost, or whose release a coordinator did not live to
// see through. known are those that are not over, or not cleared yet.
func (d *Driver) Sweep(known []job.AllocID) error {
	ids, err := driver.Unknown(d.opts.Dir, known)
	for _, id := range ids {
		d.holder(id).sweep(id)
	}
	return err
}

// KeepAwake has wake-up jobs kept submitted for the sake of jobs that asked for these, on each
// cluster one; nowhere else.
func (d *Driver) KeepAwake(reqs []job.AllocRequest) {
	need := map[string]*job.AllocRequest{}
	left, _ := os.ReadDir(wakesIn(d.opts.Dir)) // there is none before the first
	for _, f := range left {
		id := f.Name()
		if id == noCluster {
			id = ""
		}
		need[id] = nil
	}
	d.mu.Lock()
	for id := range d.by {
		need[id] = nil
	}
	d.mu.Unlock()
	for i := range reqs {
		need[reqs[i].Batch.Cluster] = &reqs[i]
	}
	for id, req := range need {
		d.of(id).keepAwake(req)
	}
}

// GuardNote says why no wake-up job can be kept ready for a job that asked for req, empty where
// one is or none is wanted.
func (d *Driver) GuardNote(req job.AllocRequest) string { return d.of(req.Batch.Cluster).guardNote() }

// Close stops watching; allocations live on.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var closing sync.WaitGroup
	for _, s := range d.by {
		closing.Go(s.close)
	}
	closing.Wait()
	return nil
}
