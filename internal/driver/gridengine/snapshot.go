package gridengine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// grain is the unit of wall times.
const grain = time.Second

// Snapshot asks for hosts, queues and all jobs.
func (s *System) Snapshot(ctx context.Context, inside string) (snap cluster.Snapshot, err error) {
	c, err := s.config(ctx)
	if err != nil {
		return snap, err
	}
	user := batch.UserName(s.User)
	said, errs := s.Each(ctx, "qhost -F -q -xml", qstat("*"), "qselect -U "+user)
	hosts, unread := parseHosts(said[0])
	rows, err := parseJobs(said[1])
	if err := cmp.Or(errs[0], errs[1], unlessEmpty(errs[2]), unread, err); err != nil {
		return snap, err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { // wake-up jobs end as soon as a coordinator sees them run
		return r.Owner == user && strings.HasPrefix(r.Name, batch.WakeName+".") && r.Number != inside
	})
	details, err := s.details(ctx, undecided(rows))
	if err != nil {
		return snap, err
	}
	v := view{site: c, user: user, hosts: hosts, rows: rows, open: said[2], details: details}
	snap = v.snapshot(job.TimeOf(time.Now()))
	if len(snap.Nodes) == 0 {
		return cluster.Snapshot{}, job.TransientError("qhost", "it names no hosts", nil)
	}
	return snap, nil
}

// details asks for the jobs with these numbers. Those that have ended meanwhile are missing.
func (s *System) details(ctx context.Context, numbers []string) (map[string]detail, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	out, err := s.Output(ctx, strings.Fields(qstatDetails(numbers))...)
	if err != nil {
		return nil, err
	}
	return parseDetails(out)
}

// view is what a snapshot is made of.
type view struct {
	*site
	user    string
	hosts   []host
	rows    []row
	open    string // the queue instances that the user may use, a line each
	details map[string]detail

	index  map[string]int // of nodes
	placed []*place       // the running jobs
	used   map[use]int64

	reserved int // pending jobs for which nodes are reserved
}

// use is a consumable of a host, of which jobs have an amount.
type use struct{ host, resource string }

// snapshot returns the snapshot at an instant.
func (v *view) snapshot(now job.Time) cluster.Snapshot {
	v.index = make(map[string]int, len(v.hosts))
	nodes := make([]cluster.Node, len(v.hosts))
	v.placed = placesOf(v.rows)
	v.tally()
	for i := range v.hosts {
		v.index[v.hosts[i].Name] = i
		nodes[i] = v.node(&v.hosts[i])
	}
	q := &cluster.Queue{Cluster: v.cluster, ID: v.id, User: v.user, Grain: grain, Words: queueWords, Rank: v.rank(), Partitions: v.partitions()}
	q.Running = v.running()
	q.Pending = v.pending(q.Partitions, nodes, now)
	q.Depth = cmp.Or(v.reserved, -1)
	return cluster.Snapshot{Driver: Name, Nodes: nodes, Queue: q}
}

// node returns a host with what its queue instances and its consumables offer. Grid Engine says what is left of a consumable and
// not what there was: that is the sum with what the jobs on it have.
func (v *view) node(h *host) cluster.Node {
	n := cluster.Node{Name: h.Name, Down: "it has no queue", Features: v.features(h)}
	slots, used := 0, 0
	for _, q := range h.Queues {
		slots, used = max(slots, parseCount(value(q.Values, "slots"))), used+parseCount(value(q.Values, "slots_used"))
		down := stateWords(value(q.Values, "state_string"))
		if asleep(down) { // partitions says so
			down = ""
		}
		if down == "" || n.Down == "it has no queue" {
			n.Down = down
		}
	}
	if left, ok := h.consumable("slots"); ok {
		slots = parseCount(left) + used
	}
	n.Capacity.CPUs, n.Free.CPUs = slots, max(slots-used, 0)
	n.Capacity.Mem, n.Free.Mem = v.memoryOf(h)
	if left, ok := h.consumable(v.gpus.name); ok && v.gpus.name != "" {
		n.Free.GPUs = parseCount(left)
		n.Capacity.GPUs = n.Free.GPUs + int(v.used[use{h.Name, v.gpus.name}])
	}
	return n
}

// features returns what --constraint can require of a host: properties of its own and of its queues, as in "arch=lx-amd64" and "bigmem".
func (v *view) features(h *host) (all []string) {
	has := map[string]string{}
	for _, r := range h.Resources {
		has[r.Name] = strings.TrimSpace(r.Value)
	}
	for _, q := range v.queues {
		for _, item := range q.on(h.Name).has {
			name, value, _ := strings.Cut(item, "=")
			if slices.ContainsFunc(h.Queues, func(i instance) bool { return i.Name == q.name }) {
				has[name] = value
			}
		}
	}
	for _, x := range v.properties {
		value, known := has[x.name]
		for _, name := range []string{x.name, x.short} {
			switch {
			case slices.Contains(yes, value):
				all = append(all, name, name+"=true", name+"=TRUE", name+"=1")
			case known:
				all = append(all, name+"="+value)
			}
		}
	}
	return all
}

// yes are the texts of a property that a host has.
var yes = []string{"1", "TRUE", "true", "1.000000"}

// memoryOf returns the memory of a host, and what is free of it: of the scarcest consumable, or else all.
func (v *view) memoryOf(h *host) (all, free int64) {
	all = parseMemory(value(h.Values, "mem_total"))
	free = all
	for _, x := range v.memory {
		left, ok := h.consumable(x.name)
		if !ok {
			continue
		}
		rest := parseMemory(left)
		all = min(all, usable(rest+v.used[use{h.Name, x.name}], x.name))
		free = min(free, usable(rest, x.name))
	}
	return all, min(free, all)
}

// usable returns how much of a host's amount of a resource a worker can have. qhost rounds it to three decimals of a gigabyte.
func usable(amount int64, resource string) int64 {
	return max((amount+1<<19)>>20<<20-2<<20-overhead(resource), 0)
}

// tally sums up what the running jobs have of the consumables of their hosts.
func (v *view) tally() {
	v.used = map[use]int64{}
	for _, p := range v.placed {
		for host, slots := range p.hosts {
			for _, x := range v.memory {
				v.used[use{host, x.name}] += p.amount(x, slots)
			}
			v.used[use{host, v.gpus.name}] += p.amount(v.gpus, slots)
		}
	}
}

// stateWords returns the reason why no job can start on a queue instance in this state, or "". A load above the threshold ("a") ends
// with the jobs that cause it.
func stateWords(state string) string {
	return stateLetters.First(func(letter string) bool { return strings.Contains(state, letter) })
}

const stateLetters driver.Table = `
u = it does not answer
E = its queue is in error
d = disabled
D = disabled by a calendar
C = suspended by a calendar
s = suspended
S = suspended for another queue
A = suspended, as its load is high
c = its configuration is ambiguous
o = its queue is being removed
`

// partitions returns the queues. The default is all.q, or else the only one.
func (v *view) partitions() []cluster.Partition {
	mine := strings.Fields(v.open)
	var parts []cluster.Partition
	for _, q := range v.queues {
		p := cluster.Partition{Name: q.name, MaxTime: q.limit, Default: q.name == "all.q" || len(v.queues) == 1}
		allowed := false
		var later []int // the hosts on which its calendar closes it now
		for i := range v.hosts {
			h := &v.hosts[i]
			k := slices.IndexFunc(h.Queues, func(of instance) bool { return of.Name == q.name })
			if k < 0 || !slices.Contains(mine, q.name+"@"+h.Name) {
				continue
			}
			allowed = true
			here := q.on(h.Name)
			if shorter(here.limit, q.limit) || len(here.pes) == 0 && len(q.pes) > 0 {
				continue
			}
			if forced := v.demands(here, h); forced != "" {
				if p.Forced == nil {
					p.Forced = map[int]string{}
				}
				p.Forced[i] = forced
			}
			switch down := stateWords(value(h.Queues[k].Values, "state_string")); {
			case down == "", down == "it does not answer":
				p.Nodes = append(p.Nodes, i)
			case asleep(down):
				later = append(later, i)
			}
		}
		switch {
		case !allowed:
			p.Closed = "you may not use it"
		case p.Nodes == nil && later != nil:
			p.Nodes, p.Later = later, "the calendar of "+q.name+" keeps it closed now: jobs wait until it opens, which no prediction here knows"
		case p.Nodes == nil:
			p.Closed = "all of it is disabled, so jobs wait"
		}
		p.MaxNodes = 1 // unless a parallel environment gives the same number of slots on several hosts
		for _, e := range v.offered(q.name) {
			if e.perHost() > 0 {
				p.MaxNodes = max(p.MaxNodes, q.offering(e.name))
			}
		}
		if p.MaxNodes == allHosts {
			p.MaxNodes = 0
		}
		parts = append(parts, p)
	}
	return parts
}

// asleep reports whether a calendar has closed a queue instance, as stateWords says.
func asleep(down string) bool { return strings.HasSuffix(down, "by a calendar") }

// demands returns what requests must name to run in a queue on a host, in the form of cluster.Partition.Forced.
func (v *view) demands(q queue, h *host) string {
	var all []string
	for _, x := range v.forced {
		here := slices.ContainsFunc(h.Resources, func(r resource) bool { return r.Name == x.name && !strings.HasSuffix(r.Kind, "l") })
		for _, item := range q.has {
			name, _, _ := strings.Cut(item, "=")
			here = here || name == x.name
		}
		if !here {
			continue
		}
		names := []string{x.name}
		if x.short != x.name {
			names = append(names, x.short)
		}
		if x.name == v.gpus.name {
			names = append(names, cluster.AskedGPUs)
		}
		all = append(all, strings.Join(names, "|"))
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return "(" + strings.Join(all, ")&(") + ")"
}
