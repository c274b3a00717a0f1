package slurm

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// texts are the outputs of Slurm's commands from which a snapshot is made.
type texts struct {
	config, nodes, partitions, reservations string
	queue                                   [][]string
	groups                                  []string // of the user, where reservations or partitions name groups
	licences                                string
}

// Snapshot asks Slurm for nodes, partitions, reservations and the whole queue, jobs of this
// user included. Hidden partitions are in it for root only, but jobs of hidden partitions are for
// all, if they occupy visible nodes.
func (s *System) Snapshot(ctx context.Context, inside string) (snap cluster.Snapshot, err error) {
	t, err := s.query(ctx, inside)
	if err != nil {
		return snap, err
	}
	user := batch.UserName(s.User)
	if namesGroups(t.reservations + t.partitions) {
		t.groups = s.Groups(ctx)
	}
	if snap, err = t.snapshot(user, os.Getuid() == 0); err != nil {
		return snap, job.FatalError("slurm", "the queue cannot be read", err)
	}
	snap.Queue.Accounting = s.limits(ctx, user)
	return snap, nil
}

// namesGroups reports whether reservations or partitions are for some groups only.
func namesGroups(out string) bool {
	return strings.Contains(strings.NewReplacer("Groups=(null)", "", "AllowGroups=ALL ", "").Replace(out), "Groups=")
}

// query runs the commands. A wake-up job is cancelled as soon as a coordinator sees it run, so it is not part of the load, except the one that this
// process is part of.
func (s *System) query(ctx context.Context, inside string) (texts, error) {
	said, errs := s.Each(ctx, "scontrol show config", "scontrol -d -o show node", "scontrol --all -o show partition", "scontrol -o show reservation",
		squeue(queueFields)+" --all", "squeue --noheader --me --format=%i --name="+batch.WakeName, "scontrol -o show licenses")
	queue, err := parseTable(said[4], len(queueFields))
	wakes := strings.Fields(said[5])
	queue = slices.DeleteFunc(queue, func(f []string) bool { return f[0] != inside && slices.Contains(wakes, f[0]) })
	return texts{config: said[0], nodes: said[1], partitions: said[2], reservations: said[3], queue: queue, licences: said[6]}, cmp.Or(append(errs[:6], err)...) // an old Slurm may know no licences
}

// snapshot returns a snapshot, without its time, as the user sees it. admin says whether the user is root.
func (t texts) snapshot(user string, admin bool) (cluster.Snapshot, error) {
	s := parseSite(t.config)
	nodes := parseNodes(t.nodes, s)
	if len(nodes) == 0 {
		return cluster.Snapshot{}, errors.New("scontrol names no nodes")
	}
	at := placesOf(nodes)
	partitions, tiers := parsePartitions(t.partitions, at, s, caller{admin: admin, anyGroup: admin || s.owner == user, groups: t.groups})
	q := &cluster.Queue{Cluster: s.cluster, ID: s.id, User: user, Grain: grain, Words: queueWords, Depth: s.depth, Partitions: partitions}
	q.Reservations = parseReservations(t.reservations, user, t.groups, at)
	q.Licences = parseLicences(t.licences)
	q.Running, q.Pending = parseQueue(t.queue, partitions, tiers, at, s)
	if s.private && !admin {
		q.Hidden = "Slurm does not show you the jobs of others (PrivateData=jobs): the queue cannot be seen, and starts are predicted by what the nodes show"
	}
	for _, r := range q.Reservations { // their times say when nodes of listed ones are free
		for _, i := range r.Nodes {
			if nodes[i].Down == reserved {
				nodes[i].Down = ""
			}
		}
	}
	return cluster.Snapshot{Driver: Name, Nodes: nodes, Queue: q}, at.err
}
