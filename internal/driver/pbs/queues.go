package pbs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
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
		if slices.Contains(reserved, r.name) {
			continue
		}
		q := queue{record: r, priority: parseCount(r.values["Priority"])}
		q.Partition = cluster.Partition{Name: r.name, Default: r.name == server.values["default_queue"],
			MinNodes: parseCount(r.values["resources_min.nodect"]), MaxNodes: parseCount(least(r, server, "resources_max.nodect")),
			MaxTime: maxTime(r, server), DefaultTime: parseSpan(r.values["resources_default.walltime"])}
		if q.DefaultTime == 0 {
			q.DefaultTime = parseSpan(server.values["resources_default.walltime"])
		}
		q.Closed, q.Drains = closed(r, of)
		named := slices.ContainsFunc(nodes, func(n node) bool { return n.values["queue"] == r.name })
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

// least returns the value of a limit: that of the queue, else that of the server, as PBS examines them.
func least(queue, server record, key string) string {
	if v := queue.values[key]; v != "" {
		return v
	}
	return server.values[key]
}

func maxTime(queue, server record) time.Duration {
	return parseSpan(least(queue, server, "resources_max.walltime"))
}

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
		if limit, set := limitOf(r.values[key], of); set && parseSize(limit) == 0 {
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
// before that for every user, and the one for all users together bounds both.
func limitOf(value string, of account) (limit string, set bool) {
	limits := map[string]string{}
	for item := range strings.SplitSeq(value, ",") {
		if key, n, ok := strings.Cut(strings.Trim(strings.TrimSpace(item), "[]"), "="); ok {
			limits[key] = n
		}
	}
	limit = cmp.Or(limits["u:"+of.name], limits["u:PBS_GENERIC"])
	if all := limits["o:PBS_ALL"]; all != "" && (limit == "" || parseSize(all) < parseSize(limit)) {
		limit = all
	}
	return limit, limit != ""
}

// withRoutes gives routing queues the nodes and the longest limits of the queues to which they lead. From there jobs go on by themselves.
func withRoutes(all []queue) []queue {
	for i := range all {
		r := &all[i]
		if r.values["queue_type"] != "Route" {
			continue
		}
		r.Nodes, r.Whole = nil, true
		time, nodes := []time.Duration{r.MaxTime}, []int{r.MaxNodes}
		for _, name := range r.list("route_destinations") {
			k := slices.IndexFunc(all, func(q queue) bool { return q.Name == name && q.values["queue_type"] != "Route" })
			if k < 0 {
				continue
			}
			to := &all[k]
			time, nodes = append(time, to.MaxTime), append(nodes, to.MaxNodes)
			r.Nodes, r.Whole = append(r.Nodes, to.Nodes...), r.Whole && to.Whole
		}
		slices.Sort(r.Nodes)
		r.Nodes, r.MaxTime, r.MaxNodes = slices.Compact(r.Nodes), widest(time), widest(nodes)
	}
	return all
}

// widest returns the limit of a routing queue, given its own and those of its destinations; 0 is no limit.
func widest[T int | time.Duration](limits []T) T {
	own, theirs := limits[0], limits[1:]
	if len(theirs) == 0 || slices.Contains(theirs, 0) {
		return own
	}
	if most := slices.Max(theirs); own == 0 || most < own {
		return most
	}
	return own
}
