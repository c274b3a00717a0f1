package pbs

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// site is what is needed to read jobs.
type site struct {
	nodes  []node
	index  map[string]int // of vnodes
	queues map[string]*queue
}

// states are the states of jobs. Of an array of which some tasks run ("B"), others may wait.
var states = batch.States{batch.Waiting: " Q H W T B ", batch.Running: " R ", batch.Ending: " E ", batch.Over: " F X M ", batch.Odd: " S U "}

// parseJob reads what is the same for running and pending jobs.
func parseJob(r record) cluster.Queued {
	user, _, _ := strings.Cut(r["Job_Owner"], "@")
	return cluster.Queued{ID: r.name(), User: user, Partition: r["queue"], Account: r["Account_Name"], Count: 1,
		Whole: strings.Contains(r["Resource_List.place"], "excl"), Limit: parseSpan(r["Resource_List.walltime"])}
}

// running reads a job that occupies nodes.
func (s *site) running(r record) cluster.Queued {
	q := parseJob(r)
	q.Start = parseTime(r["stime"])
	q.Nodes, q.PerNode = s.on(r["exec_vnode"])
	q.Count = max(len(q.Nodes), 1)
	q.Whole = q.Whole || slices.ContainsFunc(q.Nodes, func(i int) bool { return s.nodes[i].excl })
	return q
}

// on returns the nodes of an exec_vnode, and the largest share of a node.
func (s *site) on(vnodes string) (nodes []int, most job.Resources) {
	shares := map[int]job.Resources{}
	for _, p := range parseParts(vnodes, "") {
		i, known := s.index[p.head]
		if !known {
			continue
		}
		if _, seen := shares[i]; !seen {
			nodes = append(nodes, i)
		}
		shares[i] = shares[i].Plus(p.Resources)
	}
	for _, i := range nodes {
		most = larger(most, shares[i])
	}
	return nodes, most
}

// larger returns the larger of each resource.
func larger(a, b job.Resources) job.Resources {
	if b.GPUs > a.GPUs {
		a.GPUs, a.GPUType = b.GPUs, b.GPUType
	}
	a.CPUs, a.Mem = max(a.CPUs, b.CPUs), max(a.Mem, b.Mem)
	return a
}

// pending reads a job that waits, or the tasks of an array that do.
func (s *site) pending(r record) []cluster.Queued {
	q := parseJob(r)
	q.Start = parseTime(r["estimated.start_time"])
	if q.Start > 0 {
		q.Nodes, _ = s.on(r["estimated.exec_vnode"])
	}
	q.Count, q.PerNode = s.shape(r)
	q.Held = held(r, q.Start)
	queued, isArray := tasks(r, "Queued")
	switch {
	case !isArray:
		return []cluster.Queued{q}
	case queued == 0:
		return nil
	}
	q.Repeat, q.Nodes = queued, nil // the estimate is for one of them
	busy, _ := tasks(r, "Running")
	return batch.Throttled(q, parseCount(r["max_run_subjobs"]), busy, "its array runs as many tasks as its limit allows")
}

// tasks returns how many tasks of an array are in a state. ok is false for a job that is no array.
func tasks(r record, state string) (n int, ok bool) {
	for item := range strings.FieldsSeq(r["array_state_count"]) {
		if count, is := strings.CutPrefix(item, state+":"); is {
			return parseCount(count), true
		}
	}
	return 0, false
}

// shape returns how many nodes a pending job takes, and how much of each. Chunks that need not be scattered are packed: as many on
// a node as fit on the largest node of the queue.
func (s *site) shape(r record) (count int, each job.Resources) {
	place := r["Resource_List.place"]
	for _, p := range parseParts(cmp.Or(r["Resource_List.select"], r["schedselect"]), "1") {
		n, share, fit := max(parseCount(p.head), 1), p.Resources, 1
		if !strings.Contains(place, "scatter") {
			if fit = s.fit(r["queue"], share); strings.Contains(place, "pack") {
				fit = n
			}
			fit = min(max(fit, 1), n)
			share = job.Resources{CPUs: share.CPUs * fit, Mem: share.Mem * int64(fit), GPUs: share.GPUs * fit, GPUType: share.GPUType}
		}
		count += (n + fit - 1) / fit
		each = larger(each, share)
	}
	return count, each
}

// fit returns how many chunks fit on the largest node of a queue.
func (s *site) fit(name string, chunk job.Resources) (most int) {
	if q := s.queues[name]; q != nil {
		for _, i := range q.Nodes {
			most = max(most, s.nodes[i].Capacity.Slots(chunk))
		}
	}
	return most
}

// held returns the reason why a pending job cannot start by itself, or "".
func held(r record, start job.Time) string {
	state, comment := r["job_state"], r["comment"]
	if state == "H" || state == "W" || strings.HasPrefix(comment, never) || start == 0 && strings.Contains(comment, "limit") {
		return waitsFor(r)
	}
	return ""
}

// never begins the comment of a job that requests more than the nodes have, those that are down included.
const never = "Can Never Run"

// waitsFor returns what a pending job waits for, in words as in "it waits: …".
func waitsFor(r record) string {
	comment := strings.TrimPrefix(r["comment"], "Not Running: ")
	failed, refused := strings.CutPrefix(comment, "job held, ") // too many failed attempts to run
	state, holds := r["job_state"], r["Hold_Types"]
	switch {
	case state == "W":
		return "its earliest start is not reached"
	case state == "H" && strings.Contains(holds, "u"):
		return "its user holds it (qrls lets it start)"
	case state == "H" && strings.ContainsAny(holds, "op"):
		return "it is held by an administrator"
	case state == "H" && refused:
		return "PBS holds it: " + failed + " (qrls lets it try again)"
	case state == "H" && strings.Contains(r["depend"], "after"):
		return "it depends on another job"
	case state == "H":
		return strings.TrimSuffix("it is held: "+comment, ": ")
	case comment == "":
		return "PBS has not considered it yet"
	}
	return "PBS says: " + comment
}
