package local

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/sys/private"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// upEnd is the suffix of a rank's file that exists while the worker has been up since its last start.
const upEnd = ".up"

// longestRetry is the longest time between two tries to reach a host.
const longestRetry = time.Minute

// away reports whether the workers run on other machines. A process of this machine holds each of them (package ssh).
func (a *alloc) away() bool { return a.req.Remote.Away() }

// occupied reports whether a running allocation uses one of a's hosts. The lock is held.
func (d *Driver) occupied(a *alloc) bool {
	for _, other := range d.running {
		for _, h := range other.req.Remote.Hosts {
			if slices.ContainsFunc(a.req.Remote.Hosts, func(mine job.Host) bool { return mine.Name == h.Name }) {
				return true
			}
		}
	}
	return false
}

// sendAway completes the config of a rank whose worker runs on another machine. The worker itself finds out about its machine.
func (a *alloc) sendAway(c *wire.WorkerConfig, rank int, token string) {
	r := a.req.Remote
	if len(r.Rent.Machines) > 0 {
		c.Remote = cmp.Or(a.config(rank).Remote, &wire.Remote{}) // the last machine of the rank
	} else {
		c.Remote = &wire.Remote{Host: r.Hosts[rank], Command: r.Command, Agent: r.Agent, Up: a.file(rank, upEnd), Scratch: a.req.Scratch, On: a.req.On}
	}
	c.Token, c.CPUs, c.Sharers, c.Trace = token, nil, 1, ""
}

// scratch returns the folder for intermediate data. On this machine it is the user's own folder. For workers on other machines it is
// the allocation's own folder, and a token in it shows them whether they see it.
func (d *Driver) scratch(a *alloc) (dir, token string, err error) {
	if a.away() {
		dir = a.shared()
		token, err = driver.Token(dir)
		return dir, token, err
	}
	dir = d.opts.Scratch
	if a.req.Scratch != "" {
		dir = driver.ScratchIn(a.req.Scratch)
	}
	return dir, "", private.Folder(dir)
}

// sharedName is the name of the folder that an allocation shares with other machines. In a folder that others use, half of the name is random.
const sharedName = "scratch"

// shared returns the folder that the allocation shares with other machines: the one that an earlier coordinator chose, or a new one.
func (a *alloc) shared() string {
	if noted := a.sharedNoted(); noted != "" {
		return noted
	}
	if a.req.Scratch == "" {
		return filepath.Join(a.dir, sharedName)
	}
	return filepath.Join(a.req.Scratch, fmt.Sprintf("%s%d-%s-%s", sharedPrefix, os.Getuid(), a.id, driver.Secret()))
}

const sharedPrefix = "berth-"

// config returns what is noted of the worker of a rank, zero if that is nothing.
func (a *alloc) config(rank int) (c wire.WorkerConfig) {
	_ = statedir.ReadJSON(a.file(rank, configEnd), &c) // there is none before the first
	return c
}

// sharedNoted returns the folder that the allocation shares with other machines, "" if it has none yet.
func (a *alloc) sharedNoted() string {
	if c := a.config(0); c.Remote != nil {
		return c.Scratch
	}
	return ""
}

// removeShared removes the shared folder if it is outside the allocation's own folder.
func (a *alloc) removeShared() error {
	dir := a.sharedNoted()
	if dir == "" || !strings.HasPrefix(filepath.Base(dir), sharedPrefix) {
		return nil
	}
	return os.RemoveAll(dir)
}

// cameUp reports whether the rank's worker was up since its last start. The lock is held.
func (d *Driver) cameUp(a *alloc, p *proc) bool {
	if _, err := os.Stat(a.file(p.rank, upEnd)); err != nil {
		p.why = driver.LastLine(a.file(p.rank, logEnd))
		return false
	}
	a.met, p.why = true, ""
	return true
}

// retry starts the worker of a rank again after a while, as hosts disappear and return. If no host of an allocation could ever be reached,
// the allocation is given up, so that its user learns it. The lock is held.
func (d *Driver) retry(a *alloc, p *proc) {
	if p.vacant {
		return
	}
	if !a.met && !slices.ContainsFunc(a.procs, func(p *proc) bool { return p.failures < maxFailures }) {
		d.fail(a, "no host can be used: "+a.failures())
		return
	}
	if why := a.failures(); why != "" {
		d.outbox.Put(step.AllocNote{Alloc: a.id, Note: "hosts that do not answer are tried again: " + why})
	}
	wait := min(time.Second<<min(max(p.failures-1, 0), 10), longestRetry)
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.unlock()
		if d.closed || p.released || p.pid != 0 { // it has got another machine meanwhile
			return
		}
		d.spawn(a, p)
	})
}

// maxNamed is the number of unusable hosts that a message names.
const maxNamed = 3

// failures returns the reasons why workers on hosts do not come up, as one text.
func (a *alloc) failures() string {
	var all []string
	for _, p := range a.procs {
		if p.why != "" {
			all = append(all, p.why)
		}
	}
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}
