package ssh

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/wire"
)

// Name is what --on calls the hosts that ssh reaches.
const Name = "ssh"

// Backend is the hosts that the user names as a backend.
type Backend struct{}

var _ driver.Backend = Backend{}

// Name returns "ssh".
func (Backend) Name() string { return Name }

// Detect returns false: the user has to name the hosts.
func (Backend) Detect([]string) bool { return false }

// Observe asks all hosts at once what they have. Those that cannot be used are told, and the job begins without them; where there is no other it is an error.
// The request takes from the environment how hosts are reached.
func (Backend) Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (driver.Observation, error) {
	if len(r.Remote.Hosts) == 0 {
		return driver.Observation{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--on " + Name, What: "no hosts are named", Do: "name them with --hosts host1,8/host2, or --hosts FILE"}
	}
	if said := valueOf(env, CommandVar); said != "" || r.Remote.Command == "" {
		r.Remote.Command = said
	}
	r.Remote.Agent = valueOf(env, AgentVar)
	probe, remove := probeFolder(r.Scratch)
	defer remove()
	s, apart := survey(ctx, at, r.Remote, probe)
	if len(s.Notes) == len(r.Remote.Hosts) {
		return driver.Observation{}, &job.Error{Class: job.User, Code: job.CodeIO, Where: "--hosts", What: "no host can be used: " + strings.Join(s.Notes, "; ")}
	}
	failed := len(s.Notes)
	for i := range s.Notes {
		s.Notes[i] += "; the job begins without it, and it is tried again while the job runs"
	}
	if len(apart) > 0 {
		s.NoSharedFiles = len(apart)+failed == len(r.Remote.Hosts)
		s.Notes = append(s.Notes, "files travel through ssh: "+named(apart)+" not see the files of this machine")
	}
	return s, nil
}

// maxNamed is how many hosts are named in a note.
const maxNamed = 3

// named writes the names of hosts as the subject of a sentence.
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

// probeFolder makes a folder with a name that nobody has heard of, in that for intermediate data or in the state folder: whether a host sees it tells whether
// it shares the file system. An error means that it cannot be told, and nothing is said of it.
func probeFolder(scratch string) (dir string, remove func()) {
	in := scratch
	if in == "" {
		h, err := home.Locate()
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

// valueOf returns the value of a variable in an environment.
func valueOf(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, is := strings.CutPrefix(v, name+"="); is {
			return value
		}
	}
	return ""
}

// atOnce is how many hosts are asked at the same time.
const atOnce = 32

// survey returns what the hosts say of themselves, in the notes why some cannot be used, and which do not see a folder; "" is none.
func survey(ctx context.Context, at job.Time, remote job.Remote, folder string) (s driver.Observation, apart []string) {
	s = driver.Observation{Snapshot: cluster.Snapshot{Driver: Name, At: at, Nodes: make([]cluster.Node, len(remote.Hosts))}}
	found := make([]machine, len(remote.Hosts))
	slots := make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i, h := range remote.Hosts {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
			defer cancel()
			n := cluster.Node{Name: h.Name}
			m, err := look(ctx, &wire.Remote{Host: h, Command: remote.Command, Agent: remote.Agent}, "none", folder)
			if err != nil {
				n.Down = err.Error()
			} else {
				n.Capacity, found[i] = m.capacity(h), m
			}
			n.Free = n.Capacity
			s.Snapshot.Nodes[i] = n
		})
	}
	asking.Wait()
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

// Driver keeps workers on hosts.
type Driver struct {
	*local.Driver
	now func() job.Time

	mu    sync.Mutex
	hosts map[job.AllocID]job.Remote
}

var _ driver.Driver = (*Driver)(nil)

// New returns the driver for hosts. The workers of allocations that nobody knows any more are ended.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	dir := filepath.Join(s.State, Name)
	if err := local.Sweep(dir, s.Known); err != nil {
		s.Log.Warn("an allocation that is over leaves something", "err", err)
	}
	return &Driver{Driver: local.New(local.Options{Setup: s, Dir: dir}), now: s.Now, hosts: make(map[job.AllocID]job.Remote)}, nil
}

// Request starts the workers, unless another allocation has one of the hosts: then it waits for that one's end.
func (d *Driver) Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	if err := d.take(id, req); err != nil {
		return err
	}
	return d.Driver.Request(ctx, id, req)
}

// Adopt takes up an allocation of an earlier coordinator: processes that hold workers live on.
func (d *Driver) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	if err := d.take(id, req); err != nil {
		return err
	}
	return d.Driver.Adopt(ctx, id, req)
}

func (d *Driver) take(id job.AllocID, req job.AllocRequest) error {
	if len(req.Remote.Hosts) != req.Nodes {
		return &job.Error{Class: job.Fatal, Code: job.CodeConfig, Where: string(id), What: "an allocation on hosts names as many as it has nodes"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts[id] = req.Remote
	return nil
}

// Release ends an allocation, begun or not.
func (d *Driver) Release(ctx context.Context, id job.AllocID) error {
	d.mu.Lock()
	delete(d.hosts, id)
	d.mu.Unlock()
	return d.Driver.Release(ctx, id)
}

// Snapshot asks the hosts of all allocations what they are.
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
