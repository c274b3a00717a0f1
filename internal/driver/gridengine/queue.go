package gridengine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// place is a running job with the hosts on which it runs.
type place struct {
	*row
	hosts  map[string]int // slots on each host
	order  []string       // the hosts, that of its script first
	master string         // the host of its script
	queue  string
}

// placesOf returns the running jobs. A parallel job has a row for each slot, and one for its script, which has a slot of its own
// only if the environment says so.
func placesOf(rows []row) (all []*place) {
	byID := map[string]*place{}
	for i := range rows {
		r := &rows[i]
		if !r.running() {
			continue
		}
		p := byID[r.id()]
		if p == nil {
			p = &place{row: r, hosts: map[string]int{}}
			byID[r.id()] = p
			all = append(all, p)
		}
		queue, host, _ := strings.Cut(r.Instance, "@")
		if p.hosts[host] == 0 {
			p.order = append(p.order, host)
		}
		p.hosts[host] += max(r.Slots, 1)
		if r.Master == "MASTER" {
			p.master, p.queue = host, queue
		}
	}
	for _, p := range all {
		sum := 0
		for _, n := range p.hosts {
			sum += n
		}
		if p.master != "" && len(p.Granted) > 0 && sum > parseCount(p.Granted[0].Value) && p.hosts[p.master] > 1 {
			p.hosts[p.master]--
		}
		if i := slices.Index(p.order, p.master); i > 0 {
			p.order[0], p.order[i] = p.order[i], p.order[0]
		}
	}
	return all
}

// amount returns how much of a consumable a job has on a host where it has this many slots.
func (r *row) amount(x complex, slots int) int64 {
	n := parseMemory(r.request(x.name))
	if x.consumed == "YES" {
		n *= int64(slots)
	}
	return n
}

// resourcesOn returns what a job has on a host where it has this many slots.
func (v *view) resourcesOn(r *row, slots int) job.Resources {
	res := job.Resources{CPUs: slots}
	for _, x := range v.memory {
		res.Mem = max(res.Mem, r.amount(x, slots))
	}
	if v.gpus.name != "" {
		res.GPUs = int(r.amount(v.gpus, slots))
	}
	return res
}

// limit returns the wall time of a job: its own, or that of its queue on a host if that is shorter; 0 without either.
func (c *site) limit(r *row, name, host string) time.Duration {
	limit := parseSpan(r.request("h_rt"))
	for _, q := range c.queues {
		if at := q.on(host).limit; q.name == name && shorter(at, limit) {
			limit = at
		}
	}
	return limit
}

// running returns the running jobs, with one entry for each number of slots that a job has on its hosts.
func (v *view) running() (all []cluster.Queued) {
	for _, p := range v.placed {
		at := map[int]int{} // the entry of a number of slots
		for _, host := range p.order {
			i, known := v.index[host]
			if !known {
				continue
			}
			slots := p.hosts[host]
			k, ok := at[slots]
			if !ok {
				k = len(all)
				at[slots] = k
				all = append(all, cluster.Queued{ID: p.id(), User: p.Owner, Partition: p.queue, Account: p.Project, PerNode: v.resourcesOn(p.row, slots),
					Whole: v.alone(p.row), Start: parseTime(p.Started), Limit: cmp.Or(v.limit(p.row, p.queue, p.master), v.length)})
			}
			all[k].Nodes, all[k].Count = append(all[k].Nodes, i), all[k].Count+1
		}
	}
	return all
}

// alone reports whether a job shares its hosts with no other job.
func (v *view) alone(r *row) bool {
	return v.exclusive != "" && slices.Contains(yes, r.request(v.exclusive))
}

// pending returns the pending jobs in the order in which they get nodes: by priority, except that jobs of several hosts without a
// reservation come last, as any job that fits is started before them.
func (v *view) pending(parts []cluster.Partition, nodes []cluster.Node, now job.Time) []cluster.Queued {
	rows := inOrder(v.rows)
	busy, runs := map[string]int{}, map[string]int{} // by job and by user
	for _, p := range v.placed {
		busy[p.Number]++
		runs[p.Owner]++
	}
	reserved, worth := 0, v.worth(rows)
	var first, last []cluster.Queued
	for i := range rows {
		r := &rows[i]
		q := v.waiting(r, parts, nodes, now)
		if v.rank() != (cluster.Rank{}) {
			q.Rank = max(r.urgency()+worth*(r.Posix-ownPosix), 1)
		}
		d := v.details[r.Number]
		reserves := d.Reserve == "true" && reserved < v.reservations && q.Held == ""
		if reserves {
			reserved++
		}
		entries := batch.Throttled(q, d.Throttle, busy[r.Number], "its array runs as many tasks as its limit allows")
		entries = append(batch.Throttled(entries[0], v.atOnce, runs[r.Owner], "its user runs as many jobs as the cluster allows"), entries[1:]...)
		for _, part := range entries {
			if part.Held == "" {
				runs[r.Owner] += max(part.Repeat, 1)
			}
			if q.Count > 1 && !reserves {
				last = append(last, part)
			} else {
				first = append(first, part)
			}
		}
	}
	v.reserved = reserved
	return append(first, last...)
}

// rank returns what a core of a request counts in the order of pending jobs: the urgency of a slot, and of the resource that gives it
// whole hosts. It is zero where the priority does not depend on that, or where shares of users count, too.
func (c *site) rank() cluster.Rank {
	if c.urgency == 0 || c.tickets {
		return cluster.Rank{}
	}
	return cluster.Rank{PerCore: c.slot, Whole: c.whole}
}

// ownPosix is the priority of a request without qsub -p, from 0 to 1.
const ownPosix = 0.5

// worth returns how much urgency the whole range of qsub -p is worth. Grid Engine adds both priorities by weights, with the urgencies of
// all jobs scaled to the range from 0 to 1.
func (v *view) worth(rows []row) float64 {
	if v.urgency == 0 || len(rows) == 0 {
		return 0
	}
	least, most := v.slot, v.slot
	for i := range rows {
		least, most = min(least, rows[i].urgency()), max(most, rows[i].urgency())
	}
	return v.posix / v.urgency * (most - least)
}

// waiting returns a pending job.
func (v *view) waiting(r *row, parts []cluster.Partition, nodes []cluster.Node, now job.Time) cluster.Queued {
	queue := ""
	if len(r.Queue) > 0 {
		queue, _, _ = strings.Cut(r.Queue[0], "@")
	}
	part := partitionOf(parts, queue)
	count, each := 1, 1
	if len(r.PE) > 0 {
		widest, hosts := 1, len(nodes)
		if part != nil {
			hosts = len(part.Nodes)
			for _, i := range part.Nodes {
				widest = max(widest, nodes[i].Capacity.CPUs)
			}
		}
		count, each = matching(v.environments, r.PE[0].Name).shape(max(parseCount(r.PE[0].Value), 1), widest, hosts)
	}
	q := cluster.Queued{ID: r.Number, User: r.Owner, Partition: queue, Account: r.Project, Count: count, PerNode: v.resourcesOn(r, each), Whole: v.alone(r),
		Repeat: batch.Tasks(r.Tasks), Held: v.held(r, now)}
	if part != nil {
		q.Partition = part.Name
	}
	if q.Repeat == 1 {
		q.Repeat = 0
	}
	q.Limit = cmp.Or(v.limit(r, q.Partition, ""), v.length)
	return q
}

// partitionOf returns the queue with this name. A job that names none can run in any: it counts in the default one, or else in the
// one with the most nodes.
func partitionOf(parts []cluster.Partition, name string) (found *cluster.Partition) {
	for i := range parts {
		p := &parts[i]
		switch {
		case name != "" && p.Name == name:
			return p
		case name == "" && (found == nil || p.Default || !found.Default && len(p.Nodes) > len(found.Nodes)):
			found = p
		}
	}
	return found
}

// held returns the reason why a pending job cannot start by itself, or "".
func (v *view) held(r *row, now job.Time) string {
	switch {
	case strings.Contains(r.State, "E"):
		return "it is in error (qmod -cj clears that)"
	case strings.Contains(r.State, "h"):
		return r.holds()
	case v.details[r.Number].Begin > int64(now)/int64(time.Second):
		return "its earliest start is not reached"
	}
	return ""
}

// maxDetails is the number of pending jobs whose details are asked for: those of the highest priority.
const maxDetails = 200

// undecided returns the pending jobs whose place in the order depends on details: on an earliest start, on a reservation, or on
// how many tasks of an array may run.
func undecided(rows []row) (numbers []string) {
	for _, r := range inOrder(rows) {
		if len(numbers) < maxDetails && !strings.ContainsAny(r.State, "hE") && (r.Priority == 0 || len(r.PE) > 0 || r.Tasks != "") && !slices.Contains(numbers, r.Number) {
			numbers = append(numbers, r.Number)
		}
	}
	return numbers
}

// inOrder returns the pending jobs by priority.
func inOrder(rows []row) []row {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.running() })
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(parseCount(a.Number), parseCount(b.Number)))
	})
	return rows
}
