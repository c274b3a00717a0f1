package ssh

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	r.Remote.Command = cmp.Or(job.Getenv(env, CommandVar), r.Remote.Command)
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
	h, err := statedir.Locate()
	if in := cmp.Or(scratch, h.Dir); in != "" {
		dir, err = os.MkdirTemp(in, ".look-")
	}
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

// New returns the driver for hosts. It ends the workers of allocations that no coordinator knows any more. If another allocation has one of
// the hosts of a new one, that waits until the other has ended.
func (Backend) New(s driver.Setup) (driver.Driver, error) {
	return local.Open(local.Options{Setup: s, Dir: filepath.Join(s.State, Name)}), nil
}
