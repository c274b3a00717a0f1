package pbs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// answers are what PBS's commands print, from which a snapshot is made.
type answers struct {
	server, queues, nodes, jobs, reservations []record
}

// Snapshot asks PBS for nodes, queues, reservations and all jobs.
func (s *System) Snapshot(ctx context.Context, inside string) (cluster.Snapshot, error) {
	_, snap, err := s.look(ctx, inside)
	return snap, err
}

// look returns a snapshot, with the answers from which it was made.
func (s *System) look(ctx context.Context, inside string) (answers, cluster.Snapshot, error) {
	a, err := s.query(ctx)
	if err != nil {
		return a, cluster.Snapshot{}, err
	}
	snap, err := a.snapshot(s.me(ctx), inside)
	if err != nil {
		return a, snap, job.FatalError(Name, "the queue cannot be read", err)
	}
	snap.Queue.ID = s.clusterID(snap.Queue.Cluster)
	return a, snap, nil
}

// query runs the commands at the same time. Running tasks of arrays, which qstat leaves out without -t
// (and lists with thousands of waiting ones with it), are those that the nodes name.
func (s *System) query(ctx context.Context) (a answers, err error) {
	said, errs := s.Each(ctx, dsv("qstat", "-B -f"), dsv("qstat", "-Q -f"), dsv("qstat", "-f"), dsv("pbsnodes", "-a"), "pbs_rstat -F")
	if err := cmp.Or(errs...); err != nil {
		return a, err
	}
	a = answers{server: parseRecords(said[0]), queues: parseRecords(said[1]), jobs: parseRecords(said[2]), nodes: parseRecords(said[3]), reservations: parseListing(said[4])}
	if a.nodes, err = s.nodes(ctx, a.nodes); err != nil {
		return a, err
	}
	if of := runningTasks(a.nodes); len(of) > 0 {
		tasks, err := s.jobs(ctx, "-f "+strings.Join(of, " "))
		a.jobs = append(a.jobs, tasks...)
		return a, err
	}
	return a, nil
}

// nodes returns the vnodes, given those that were named first. A server that has just started does not know which ones are up until their moms have reported, which takes seconds,
// and counts them as down. So it is asked again while most have not, and then while more and more do, at most as long as Available waits.
func (s *System) nodes(ctx context.Context, nodes []record) (_ []record, err error) {
	end := time.Now().Add(prompt)
	for before := 0; ; {
		unknown := 0
		for _, n := range nodes {
			if is := n.has("state"); is(stateUnknown) && !is("offline") {
				unknown++
			}
		}
		if starts := 2*unknown > len(nodes) || 0 < unknown && unknown < before; err != nil || !starts || time.Now().After(end) {
			return nodes, err
		}
		before = unknown
		select {
		case <-ctx.Done():
		case <-time.After(reports):
		}
		nodes, err = s.ask(ctx, "pbsnodes", "-a")
	}
}

// reports is the time between two looks at whether nodes have reported.
const reports = 500 * time.Millisecond

// runningTasks returns the ids of tasks of arrays that run on nodes, as in "7[3].pbs/0".
func runningTasks(nodes []record) []string {
	var ids []string
	for _, n := range nodes {
		for _, slot := range n.list("jobs") {
			if id, _, _ := strings.Cut(slot, "/"); strings.Contains(id, "[") {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// queueWords are the names that a plan uses. The queue of a reservation is named like any other.
var queueWords = cluster.Words{Reservation: "-q", Limits: "qstat -Q -f, qstat -B -f"}

// backfillDepth returns cluster.Queue.Depth by the server's backfill_depth, which is 1 where it is unset.
func backfillDepth(value string) int {
	switch n := parseCount(value); {
	case value == "":
		return 1
	case n > 0:
		return n
	}
	return -1
}

// snapshot returns a snapshot, without its time, as the user sees it. A wake-up job is cancelled as soon as a coordinator sees it run, so
// it is not part of the load, except the one in which this process runs.
func (a *answers) snapshot(of account, inside string) (cluster.Snapshot, error) {
	if len(a.server) == 0 || len(a.nodes) == 0 {
		return cluster.Snapshot{}, errors.New("PBS names no server or no nodes")
	}
	server := a.server[0]
	s := &site{queues: map[string]*queue{}}
	s.nodes, s.index = parseNodes(a.nodes)
	q := &cluster.Queue{Cluster: server.name(), User: of.name, Grain: grain, Words: queueWords, Depth: backfillDepth(server["backfill_depth"])}
	var reserved []string
	for _, r := range a.reservations {
		reserved = append(reserved, r["queue"])
		if x, ok := s.reservation(r, of); ok {
			q.Reservations = append(q.Reservations, x)
		}
	}
	queues := parseQueues(a.queues, server, s.nodes, of, reserved)
	for i := range queues {
		s.queues[queues[i].Name] = &queues[i]
		q.Partitions = append(q.Partitions, queues[i].Partition)
	}
	others := a.addJobs(s, q, inside)
	if !others && !server.is("query_other_jobs") {
		q.Hidden = "PBS does not show you the jobs of others (query_other_jobs is off): the queue cannot be seen, and starts are predicted by what the nodes show"
	}
	nodes := make([]cluster.Node, len(s.nodes))
	for i := range s.nodes {
		nodes[i] = s.nodes[i].Node
	}
	return cluster.Snapshot{Driver: Name, Nodes: nodes, Queue: q}, nil
}

// addJobs adds the running and pending jobs to a queue. others reports whether any is another user's.
func (a *answers) addJobs(s *site, q *cluster.Queue, inside string) (others bool) {
	formula := a.server[0]["job_sort_formula"]
	var all []waiting
	for _, r := range a.jobs {
		user, _, _ := strings.Cut(r["Job_Owner"], "@")
		others = others || user != q.User
		if r["Job_Name"] == batch.WakeName && user == q.User && r.name() != inside {
			continue
		}
		switch phase := states.Phase(r["job_state"]); {
		case phase.HoldsNodes():
			q.Running = append(q.Running, s.running(r))
		case phase == batch.Waiting:
			of := waiting{}
			if in := s.queues[r["queue"]]; in != nil {
				of.queue = in.priority
			}
			of.rank, _ = evaluate(formula, func(name string) (float64, bool) { return variable(r, of.queue, name) })
			for _, of.Queued = range s.pending(r) {
				all = append(all, of)
			}
		}
	}
	q.Pending = inOrder(all)
	return others
}

// reservation reads a reservation that keeps nodes.
func (s *site) reservation(r record, of account) (cluster.Reservation, bool) {
	x := cluster.Reservation{Name: r["queue"], Start: parseTime(r["reserve_start"]), End: parseTime(r["reserve_end"])}
	x.Nodes, _ = s.on(r["resv_nodes"])
	for _, who := range r.list("Authorized_Users") {
		name, _, _ := strings.Cut(who, "@")
		x.Mine = x.Mine || name == of.name
	}
	return x, len(x.Nodes) > 0
}
