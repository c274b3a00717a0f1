package pbs

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/driver"
)

// account is the user for whom queues are read.
type account struct {
	name   string
	groups []string
}

// queue is a queue with its place in the order of jobs.
type queue struct {
	cluster.Partition
	record
	priority int
}

// parseQueues returns the queues, without those of reservations. server has defaults and limits for all of them.
func parseQueues(records []record, server record, nodes []node, of account, reserved []string) []queue {
	var all []queue
	for _, r := range records {
		if slices.Contains(reserved, r.name()) {
			continue
		}
		r = limited(r, server)
		q := queue{record: r, priority: parseCount(r["Priority"])}
		q.Partition = cluster.Partition{Name: r.name(), Default: r.name() == server["default_queue"],
			MinNodes: parseCount(r["resources_min.nodect"]), MaxNodes: parseCount(r["resources_max.nodect"]),
			MinTime: minTime(r), MinCPUs: parseCount(r["resources_min.ncpus"]),
			MaxTime: maxTime(r), DefaultTime: parseSpan(r["resources_default.walltime"])}
		for b, resource := range ofJob {
			q.Bounds[b] = parseSize(r["resources_max."+resource])
		}
		for b, resource := range ofUser {
			q.Bounds[b] = parseSize(together(resource, of, r, server))
		}
		q.Closed, q.Drains = closed(r, of)
		named := slices.ContainsFunc(nodes, func(n node) bool { return n.record["queue"] == r.name() })
		for i := range nodes {
			if nodes[i].serves(r, named) {
				q.Nodes = append(q.Nodes, i)
			}
		}
		q.Whole = len(q.Nodes) > 0 && !slices.ContainsFunc(q.Nodes, func(i int) bool { return !nodes[i].excl })
		all = append(all, q)
	}
	return withRoutes(all)
}

// The resources of bounds on a job, and on all jobs of a user together.
var (
	ofJob  = map[cluster.Bound]string{cluster.JobCPUs: "ncpus", cluster.JobGPUs: "ngpus"}
	ofUser = map[cluster.Bound]string{cluster.UserCPUs: "ncpus", cluster.UserGPUs: "ngpus", cluster.UserNodes: "nodect"}
)

// together returns the least limit of a queue and the server on what all jobs of a user may have of a resource together; "": none.
func together(resource string, of account, levels ...record) (least string) {
	for _, r := range levels {
		for _, key := range []string{"max_run_res.", "max_queued_res.", "max_user_res."} {
			if most := limitOf(r[key+resource], of); most != "" && (least == "" || parseSize(most) < parseSize(least)) {
				least = most
			}
		}
	}
	return least
}

// limited returns a queue with the server's limits and defaults of a job where it has none of its own, as PBS examines them.
func limited(queue, server record) record {
	all := maps.Clone(queue)
	for key, value := range server {
		if ofJobs(key) && all[key] == "" {
			all[key] = value
		}
	}
	return all
}

var ofJobs = driver.Says(`^resources_(max|default)\.`)

func maxTime(queue record) time.Duration { return parseSpan(queue["resources_max.walltime"]) }

func minTime(queue record) time.Duration { return parseSpan(queue["resources_min.walltime"]) }

// closed returns the reason why this user's jobs are not accepted by a queue, or do not start in it, and whether the jobs in it start
// all the same.
func closed(r record, of account) (why string, drains bool) {
	switch {
	case !r.is("started"):
		return "it is stopped, so jobs wait", false
	case !r.is("enabled"):
		return "it accepts no jobs (disabled)", true
	case r.is("from_route_only"):
		return "jobs reach it only through a routing queue", true
	case r.is("acl_user_enable") && !allowed(r.list("acl_users"), of.name):
		return "user " + of.name + " may not use it (acl_users)", true
	case r.is("acl_group_enable") && !slices.ContainsFunc(of.groups, func(g string) bool { return allowed(r.list("acl_groups"), g) }):
		return "none of your groups may use it (acl_groups)", true
	}
	for _, key := range []string{"max_run", "max_queued"} {
		if limit := limitOf(r[key], of); limit != "" && parseSize(limit) == 0 {
			return "it allows you no job (" + key + ")", true
		}
	}
	return "", false
}

// allowed reports whether an access list has a name: "+alice@*,bob,-eve@host". What is not in the list may not.
func allowed(list []string, name string) bool {
	for _, entry := range list {
		who, _, _ := strings.Cut(strings.TrimPrefix(entry, "+"), "@")
		if who == name || who == "*" || who == "" {
			return true
		}
		if who == "-"+name {
			return false
		}
	}
	return false
}

// limitOf returns the limit of this user in a value such as "[u:PBS_GENERIC=2],[u:alice=5],[o:PBS_ALL=100]". A limit for the user counts
// before that for every user, and the one for all users together bounds both; "": none. An older form is only a number, for every user.
func limitOf(value string, of account) string {
	if !strings.Contains(value, "=") {
		return value
	}
	limits := map[string]string{}
	for item := range strings.SplitSeq(value, ",") {
		if key, n, ok := strings.Cut(strings.Trim(strings.TrimSpace(item), "[]"), "="); ok {
			limits[key] = n
		}
	}
	limit := cmp.Or(limits["u:"+of.name], limits["u:PBS_GENERIC"])
	if all := limits["o:PBS_ALL"]; all != "" && (limit == "" || parseSize(all) < parseSize(limit)) {
		return all
	}
	return limit
}

// withRoutes gives routing queues the nodes and the widest limits of the queues to which they lead. From there jobs go on by themselves.
func withRoutes(all []queue) []queue {
	for i := range all {
		r := &all[i]
		if r.record["queue_type"] != "Route" {
			continue
		}
		r.Nodes, r.Whole = nil, true
		var to []*queue
		for _, name := range r.list("route_destinations") {
			k := slices.IndexFunc(all, func(q queue) bool { return q.Name == name && q.record["queue_type"] != "Route" })
			if k >= 0 {
				to = append(to, &all[k])
				r.Nodes, r.Whole = append(r.Nodes, all[k].Nodes...), r.Whole && all[k].Whole
			}
		}
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
		widen(true, r, to, func(q *queue) *time.Duration { return &q.MinTime })
		widen(true, r, to, func(q *queue) *int { return &q.MinNodes })
		widen(true, r, to, func(q *queue) *int { return &q.MinCPUs })
		widen(false, r, to, func(q *queue) *time.Duration { return &q.MaxTime })
		widen(false, r, to, func(q *queue) *int { return &q.MaxNodes })
		for b := range r.Bounds {
			widen(false, r, to, func(q *queue) *int64 { return &q.Bounds[b] })
		}
	}
	return all
}

// widen gives a routing queue the greatest upper limit of its destinations, or the least lower one, where its own is wider; 0 is no limit.
func widen[T int | int64 | time.Duration](lower bool, r *queue, to []*queue, limit func(*queue) *T) {
	var theirs []T
	for _, q := range to {
		theirs = append(theirs, *limit(q))
	}
	switch own := limit(r); {
	case len(to) == 0:
	case lower:
		*own = max(*own, slices.Min(theirs))
	case !slices.Contains(theirs, 0) && (*own == 0 || slices.Max(theirs) < *own):
		*own = slices.Max(theirs)
	}
}
