package slurm

import (
	"context"
	"errors"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"

	"berth/internal/cluster"
	"berth/internal/job"
)

// texts are the answers that a snapshot is made of.
type texts struct {
	config, nodes, partitions, reservations string
	queue                                   [][]string
}

// Snapshot asks Slurm for nodes, partitions, reservations and the whole queue, jobs of this
// user included. What hides from this user (scontrol without --all) is not in it, but
// jobs of hidden partitions are, where they hold nodes that can be seen.
func (d *Driver) Snapshot(ctx context.Context) (cluster.Snapshot, error) {
	at := d.wall()
	c := d.client()
	t, err := c.look(ctx)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	wakes, err := d.wakeIDs(ctx, c)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	// A wake-up job is cancelled as soon as a coordinator sees it run, so it is no load.
	t.queue = slices.DeleteFunc(t.queue, func(f []string) bool { return wakes[f[0]] })
	snap, err := t.snapshot(userName(c.env), os.Getuid() == 0)
	if err != nil {
		return cluster.Snapshot{}, &job.Error{Class: job.Fatal, Where: "slurm", What: "the queue cannot be read", Err: err}
	}
	snap.At = at
	return snap, nil
}

// look asks all at once: each answer is a round trip.
func (c client) look(ctx context.Context) (t texts, err error) {
	asks := []func() error{
		func() (err error) { t.config, err = c.run(ctx, "scontrol", "show", "config"); return },
		func() (err error) { t.nodes, err = c.run(ctx, "scontrol", "-o", "show", "node"); return },
		func() (err error) { t.partitions, err = c.run(ctx, "scontrol", "-o", "show", "partition"); return },
		func() (err error) { t.reservations, err = c.run(ctx, "scontrol", "-o", "show", "reservation"); return },
		func() (err error) { t.queue, err = c.table(ctx, queueFields, "--all"); return },
	}
	errs := make([]error, len(asks))
	var wg sync.WaitGroup
	for i, ask := range asks {
		wg.Go(func() { errs[i] = ask() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// snapshot makes a snapshot, without its time, as user sees it; admin says that it is root.
func (t texts) snapshot(user string, admin bool) (cluster.Snapshot, error) {
	s := parseSite(t.config)
	nodes := parseNodes(t.nodes, s)
	if len(nodes) == 0 {
		return cluster.Snapshot{}, errors.New("scontrol names no nodes")
	}
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		index[n.Name] = i
	}
	partitions, err := parsePartitions(t.partitions, index, s, admin)
	if err != nil {
		return cluster.Snapshot{}, err
	}
	q := &cluster.Queue{Cluster: s.cluster, ID: s.id, User: user, Grain: grain}
	if q.Reservations, err = parseReservations(t.reservations, user, index); err != nil {
		return cluster.Snapshot{}, err
	}
	if q.Running, q.Pending, err = parseQueue(t.queue, partitions, index, s); err != nil {
		return cluster.Snapshot{}, err
	}
	for _, p := range partitions {
		q.Partitions = append(q.Partitions, p.Partition)
	}
	return cluster.Snapshot{Driver: Name, Nodes: withReserved(nodes, q.Reservations), Queue: q}, nil
}

// withReserved returns the nodes, those down that are reserved by something that is not
// listed: of a listed reservation its times say when the node is free.
func withReserved(nodes []node, reservations []cluster.Reservation) []cluster.Node {
	listed := map[int]bool{}
	for _, r := range reservations {
		for _, i := range r.Nodes {
			listed[i] = true
		}
	}
	all := make([]cluster.Node, len(nodes))
	for i, n := range nodes {
		if n.reserved && !listed[i] {
			n.Down = "reserved"
		}
		all[i] = n.Node
	}
	return all
}

// userName returns who asks, as squeue calls them.
func userName(env []string) string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	if name := job.Getenv(env, "USER"); name != "" {
		return name
	}
	return strconv.Itoa(os.Getuid())
}
