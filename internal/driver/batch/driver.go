package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver"
	"berth/internal/sys/statedir"
)

// Driver is the driver for all clusters of a batch system to which a user's jobs were submitted. The
// environment of the submitting command selects the cluster (SLURM_CONF, a module). The
// coordinator's own environment does not count, as the coordinator may have started before the module was loaded.
// Each cluster has its own site, which reaches the batch system in the environment of the last job for it:
// the command that submitted this job has just used that environment to read the queue.
//
// Environments are remembered for later coordinators, in files of mode 0600 beside Options.Dir.
type Driver struct {
	opts Options // of each site

	mu sync.Mutex
	by map[string]*site // by cluster.Queue.ID
}

var _ driver.Batch = (*Driver)(nil)

// New returns a driver that has no allocation yet.
func New(opts Options) *Driver {
	return &Driver{opts: opts, by: make(map[string]*site)}
}

// environmentsIn returns the folder of the remembered environments, given the folder of the allocations.
func environmentsIn(dir string) string { return dir + "-env" }

func (d *Driver) environment(id string) string {
	return filepath.Join(environmentsIn(d.opts.Dir), id+".json")
}

// Use remembers the environment of a command that has just reached the cluster. The cluster is
// reached in this environment from now on.
func (d *Driver) Use(id string, env []string) error {
	if err := os.MkdirAll(environmentsIn(d.opts.Dir), 0o700); err != nil {
		return folderError(environmentsIn(d.opts.Dir), err)
	}
	if err := statedir.WriteJSON(d.environment(id), env); err != nil {
		return err
	}
	d.of(id).use(env)
	return nil
}

// of returns the site of a cluster. If no environment is remembered for the cluster, the site uses
// the environment in Options.
func (d *Driver) of(id string) *site {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.by[id]; s != nil {
		return s
	}
	env := d.opts.Env
	var remembered []string
	switch err := statedir.ReadJSON(d.environment(id), &remembered); {
	case err == nil:
		env = remembered
	case id != "":
		d.opts.Log.Warn("no environment is remembered for a cluster; the coordinator's own is used", "cluster", id, "err", err)
	}
	s := newSite(d.opts, id, env)
	d.by[id] = s
	return s
}

// siteOf returns the site of the allocation with this id, which is written in the allocation's folder.
func (d *Driver) siteOf(id job.AllocID) *site {
	b, err := os.ReadFile(filepath.Join(d.opts.Dir, string(id), clusterFile))
	if err != nil { // an older version wrote it, or it does not exist
		return d.of("")
	}
	return d.of(string(b))
}

// Snapshot returns the present nodes and queue of a cluster. The id "" is the cluster that Options.Env leads to.
func (d *Driver) Snapshot(ctx context.Context, id string) (cluster.Snapshot, error) {
	return d.of(id).snapshot(ctx)
}

// Past returns what the accounting of a cluster tells of its jobs (driver.Remembering).
func (d *Driver) Past(ctx context.Context, id, user string, from job.Time) (starts.History, error) {
	s, ok := d.of(id).reached().(Accounting)
	if !ok {
		return starts.History{}, errors.ErrUnsupported
	}
	return s.Past(ctx, user, from)
}

// Test asks the request's cluster when a job for it would start.
func (d *Driver) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	return d.of(req.Batch.Cluster).reached().Test(ctx, req)
}

// Request adds an allocation. Its job is submitted as soon as its cluster accepts it.
func (d *Driver) Request(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	s := d.of(req.Batch.Cluster)
	return s.request(s.alloc(id, req))
}

// Adopt takes over an allocation of an earlier coordinator. Its job is watched, or submitted if
// the earlier coordinator had not done so. The workers need no driver to continue.
func (d *Driver) Adopt(_ context.Context, id job.AllocID, req job.AllocRequest) error {
	s := d.of(req.Batch.Cluster)
	return s.request(s.noted(id, req))
}

// Release cancels the allocation's job.
func (d *Driver) Release(_ context.Context, id job.AllocID) error {
	d.siteOf(id).release(id)
	return nil
}

// Clear removes the allocation's folders, once its job has ended.
func (d *Driver) Clear(_ context.Context, id job.AllocID) error { return d.siteOf(id).clear(id) }

// Look polls the allocation's job soon, as one of its workers has disconnected.
func (d *Driver) Look(id job.AllocID) { d.siteOf(id).recheck(id) }

// Sweep cancels the jobs of allocations that are not among known, and removes their folders:
// their journal was lost, or a coordinator ended before it had released them. known
// are the allocations that have not ended or are not cleared.
func (d *Driver) Sweep(known []job.AllocID) error {
	ids, err := driver.Unknown(d.opts.Dir, known)
	for _, id := range ids {
		s := d.siteOf(id)
		a := s.noted(id, job.AllocRequest{})
		a.released, a.clear = true, true
		s.add(a)
	}
	return err
}

// KeepAwake keeps one wake-up job submitted on each cluster that a request in reqs names, and
// none on any other cluster.
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

// GuardNote returns the reason why no wake-up job can be kept submitted for a job with this request.
// It returns "" where one is submitted or none is wanted.
func (d *Driver) GuardNote(req job.AllocRequest) string {
	s := d.of(req.Batch.Cluster)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.note
}

// Close stops watching. The allocations continue.
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
