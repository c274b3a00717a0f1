package ssh

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// Name is the backend's name, as in --on.
const Name = "ssh"

// Backend is the backend of the hosts that the user names.
type Backend struct{}

var _ driver.Backend = Backend{}

// Name returns "ssh".
func (Backend) Name() string { return Name }

// Detect returns false: the user must name the hosts.
func (Backend) Detect([]string) bool { return false }

// Observe asks all hosts at once for their cores and memory. The notes name the hosts that cannot be used; the job starts without them. If no host can be used, it is an error.
// Observe sets the request's command and agent from the environment.
func (Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (driver.Observation, error) {
	if len(r.Remote.Hosts) == 0 {
		return driver.Observation{}, job.ConfigError("--on "+Name, "no hosts are named", "name them with --hosts host1,8/host2, or --hosts FILE")
	}
	if command := job.Getenv(env, CommandVar); command != "" || r.Remote.Command == "" {
		r.Remote.Command = command
	}
	r.Remote.Agent = job.Getenv(env, AgentVar)
	probe, remove := probeFolder(r.Scratch)
	defer remove()
	s, apart := survey(ctx, at, r.Remote, probe)
	if len(s.Notes) == len(r.Remote.Hosts) {
		return driver.Observation{}, job.IOError(job.User, "--hosts", "no host can be used: "+strings.Join(s.Notes, "; "), nil)
	}
	failed := len(s.Notes)
	for i := range s.Notes {
		s.Notes[i] += "; the job starts without it, and berth tries it again while the job runs"
	}
	if len(apart) > 0 {
		s.NoSharedFiles = len(apart)+failed == len(r.Remote.Hosts)
		s.Notes = append(s.Notes, "files travel through ssh: "+named(apart)+" not see the files of this machine")
	}
	return s, nil
}

// maxNamed is the number of hosts that a note names.
const maxNamed = 3

// named returns the names of hosts as the subject of a sentence, with its verb.
func named(hosts []string) string {
	text, more := strings.Join(hosts[:min(len(hosts), maxNamed)], ", "), len(hosts)-maxNamed
	switch {
	case len(hosts) == 1:
		return "host " + text + " does"
	case more > 0:
		return fmt.Sprintf("hosts %s and %d more do", text, more)
	default:
		return "hosts " + text + " do"
	}
}

// probeFolder creates a folder with a new name in the scratch folder or in the state folder. A host that sees the folder shares the file system.
// If the folder cannot be created, dir is "" and Observe says nothing about shared files.
func probeFolder(scratch string) (dir string, remove func()) {
	in := scratch
	if in == "" {
		h, err := statedir.Locate()
		if err != nil {
			return "", func() {}
		}
		in = h.Dir
	}
	dir, err := os.MkdirTemp(in, ".look-")
	if err != nil {
		return "", func() {}
	}
	return dir, func() { _ = os.Remove(dir) } // it is empty
}

// atOnce is the number of hosts that are asked at the same time.
const atOnce = 32

// survey asks hosts for their cores and memory. The notes say why hosts cannot be used. apart are the hosts that do not see the folder; "" names no folder.
func survey(ctx context.Context, at job.Time, remote job.Remote, folder string) (s driver.Observation, apart []string) {
	s = driver.Observation{Snapshot: cluster.Snapshot{Driver: Name, At: at, Nodes: make([]cluster.Node, len(remote.Hosts))}}
	found := make([]machine, len(remote.Hosts))
	var asking errgroup.Group
	asking.SetLimit(atOnce)
	for i, h := range remote.Hosts {
		asking.Go(func() error {
			n := cluster.Node{Name: h.Name}
			m, err := examine(ctx, &wire.Remote{Host: h, Command: remote.Command, Agent: remote.Agent}, "none", folder)
			if err != nil {
				n.Down = err.Error()
			} else {
				n.Capacity, found[i] = m.capacity(h), m
			}
			n.Free = n.Capacity
			s.Snapshot.Nodes[i] = n
			return nil
		})
	}
	_ = asking.Wait() // the nodes have the errors
	most := 0
	for i, n := range s.Snapshot.Nodes {
		if n.Down != "" {
			s.Notes = append(s.Notes, n.Down)
			continue
		}
		if folder != "" && !found[i].sees {
			apart = append(apart, n.Name)
		}
		if n.Capacity.CPUs > most {
			most, s.NodeType = n.Capacity.CPUs, found[i].nodeType()
		}
	}
	return s, apart
}

// Driver keeps workers running on hosts.
type Driver struct {
	*local.Driver
	now func() job.Time

	mu    sync.Mutex
	hosts map[job.AllocID]job.Remote
}

var _ driver.Driver = (*Driver)(nil)

// New returns the driver for hosts. It ends the workers of allocations that no coordinator knows any more.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	dir := filepath.Join(s.State, Name)
	if err := local.Sweep(dir, s.Known); err != nil {
		s.Log.Warn("the remains of ended allocations cannot be removed", "err", err)
	}
	return &Driver{Driver: local.New(local.Options{Setup: s, Dir: dir}), now: s.Now, hosts: make(map[job.AllocID]job.Remote)}, nil
}

// Request starts the workers. If another allocation has one of the hosts, it waits until that one has ended.
func (d *Driver) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	if err := d.register(id, req); err != nil {
		return err
	}
	return d.Driver.Request(ctx, id, req)
}

// Adopt takes over an allocation of an earlier coordinator. The holders of its workers have continued.
func (d *Driver) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	if err := d.register(id, req); err != nil {
		return err
	}
	return d.Driver.Adopt(ctx, id, req)
}

// register remembers the hosts of an allocation.
func (d *Driver) register(id job.AllocID, req job.AllocRequest) error {
	if len(req.Remote.Hosts) != req.Nodes {
		return &job.Error{Class: job.Fatal, Code: job.CodeConfig, Where: string(id), What: "the numbers of hosts and nodes of the allocation differ"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts[id] = req.Remote
	return nil
}

// Release ends an allocation, whether it has started or waits.
func (d *Driver) Release(ctx context.Context, id job.AllocID) error {
	d.mu.Lock()
	delete(d.hosts, id)
	d.mu.Unlock()
	return d.Driver.Release(ctx, id)
}

// Snapshot asks the hosts of all allocations for their cores and memory.
func (d *Driver) Snapshot(ctx context.Context, _ string) (cluster.Snapshot, error) {
	d.mu.Lock()
	var all job.Remote
	for _, r := range d.hosts {
		all.Command, all.Agent = r.Command, r.Agent
		all.Hosts = append(all.Hosts, r.Hosts...)
	}
	d.mu.Unlock()
	slices.SortFunc(all.Hosts, func(a, b job.Host) int { return strings.Compare(a.Name, b.Name) })
	all.Hosts = slices.Compact(all.Hosts)
	s, _ := survey(ctx, d.now(), all, "")
	return s.Snapshot, nil
}
