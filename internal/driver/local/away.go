package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/driver"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/private"
	"berth/internal/step"
	"berth/internal/wire"
)

// upEnd is the end of the name of a rank's file that is there once its worker has been up since it was last started.
const upEnd = ".up"

// longestRetry is how long a host that cannot be reached is left alone at most.
const longestRetry = time.Minute

// away reports whether the workers run on other machines, each held by a process of this one (package ssh).
func (a *alloc) away() bool { return a.req.Remote.Away() }

// occupied reports whether a running allocation has one of the hosts. The lock is held.
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

// sendAway completes what the worker of a rank needs to know where it runs on another machine. What it has there, it finds out itself.
func (a *alloc) sendAway(c *wire.WorkerConfig, rank int, token string) {
	r := a.req.Remote
	if len(r.Rent.Machines) > 0 {
		c.Remote = a.noted(rank)
	} else {
		c.Remote = &wire.Remote{Host: r.Hosts[rank], Command: r.Command, Agent: r.Agent, Up: a.file(rank, upEnd), Scratch: a.req.Scratch, On: a.req.On}
	}
	c.Token, c.CPUs, c.Sharers, c.Trace = token, nil, 1, ""
}

// scratch returns the folder for intermediate data: on this machine one of the user's own. What workers on other machines share is the
// allocation's alone, and a token in it tells whether they see it.
func (d *Driver) scratch(a *alloc) (dir, token string, err error) {
	if a.away() {
		dir = a.lent()
		token, err = driver.Token(dir)
		return dir, token, err
	}
	dir = d.opts.Scratch
	if a.req.Scratch != "" {
		dir = driver.ScratchIn(a.req.Scratch)
	}
	return dir, "", private.Folder(dir)
}

// lentName is how the folder is called that an allocation shares with other machines; in a folder that others use half of the name is random.
const lentName = "scratch"

// lent returns that folder: the one that an earlier coordinator chose, or a new one.
func (a *alloc) lent() string {
	if noted := a.lentNoted(); noted != "" {
		return noted
	}
	if a.req.Scratch == "" {
		return filepath.Join(a.dir, lentName)
	}
	return filepath.Join(a.req.Scratch, fmt.Sprintf("%s%d-%s-%s", lentPrefix, os.Getuid(), a.id, driver.Secret()))
}

const lentPrefix = "berth-"

// noted returns the machine that the rank had last, one without a name where it had none.
func (a *alloc) noted(rank int) *wire.Remote {
	var c wire.WorkerConfig
	if err := home.ReadJSON(a.file(rank, configEnd), &c); err == nil && c.Remote != nil {
		return c.Remote
	}
	return &wire.Remote{}
}

func (a *alloc) lentNoted() string {
	var c wire.WorkerConfig
	if err := home.ReadJSON(a.file(0, configEnd), &c); err == nil && c.Remote != nil {
		return c.Scratch
	}
	return ""
}

// removeLent removes that folder where it is not in the allocation's own.
func (a *alloc) removeLent() error {
	dir := a.lentNoted()
	if dir == "" || !strings.HasPrefix(filepath.Base(dir), lentPrefix) {
		return nil
	}
	return os.RemoveAll(dir)
}

// cameUp reports whether the rank's worker was up since it was started. The lock is held.
func (d *Driver) cameUp(a *alloc, p *proc) bool {
	if _, err := os.Stat(a.file(p.rank, upEnd)); err != nil {
		p.why = driver.LastLine(a.file(p.rank, logEnd))
		return false
	}
	a.met, p.why = true, ""
	return true
}

// again starts the worker of a rank again after a while: hosts vanish, and come back. An allocation of which no host could ever be reached is
// given up, so that its user is told. The lock is held.
func (d *Driver) again(a *alloc, p *proc) {
	if p.vacant {
		return
	}
	if !a.met && !slices.ContainsFunc(a.procs, func(p *proc) bool { return p.failures < maxFailures }) {
		d.drop(a)
		d.told.Put(step.AllocDown{Alloc: a.id, Refuse: true, Reason: "no host can be used: " + a.failures()})
		return
	}
	if why := a.failures(); why != "" {
		d.told.Put(step.AllocNote{Alloc: a.id, Note: why})
	}
	wait := min(time.Second<<min(max(p.failures-1, 0), 10), longestRetry)
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.unlock()
		if d.closed || p.released || p.pid != 0 { // it has another machine meanwhile
			return
		}
		d.spawn(a, p)
	})
}

// maxTold is how many hosts are named that cannot be used.
const maxTold = 3

// failures says of which hosts the workers do not come up, and why.
func (a *alloc) failures() string {
	var all []string
	for _, p := range a.procs {
		if p.why != "" {
			all = append(all, p.why)
		}
	}
	if more := len(all) - maxTold; more > 0 {
		all = append(all[:maxTold], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}
