package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// partitions returns the partitions that the job may use: those that the user named, else those of its present
// allocations, else the default one, else all open ones. why explains the last case.
func partitions(q *Question) (parts []*cluster.Partition, why string, err error) {
	queue, asked := q.Snap.Queue, q.Spec.Request.Partition
	if asked == "" && q.Remaining != nil {
		for _, l := range q.Remaining.Live {
			asked = l.Request.Batch.Partitions()
		}
	}
	if asked != "" {
		parts, err = named(queue, asked)
		return slices.DeleteFunc(parts, func(p *cluster.Partition) bool { return q.LeavesOut(p.Name) }), "", err
	}
	for _, later := range []bool{false, true} {
		for i := range queue.Partitions {
			p := &queue.Partitions[i]
			if p.Closed != "" || (p.Later != "") != later {
				continue
			}
			if p.Default {
				return []*cluster.Partition{p}, "", nil
			}
			parts = append(parts, p)
		}
		if parts != nil {
			return parts, "no partition is the default, so all open ones were compared", nil
		}
	}
	return nil, "", &job.Error{Class: job.Transient, Code: job.CodeConfig, Where: q.Snap.Driver,
		What: "no partition is open" + reasonsClosed(queue), Do: "ask the administrator of the cluster"}
}

// partitionsAmong returns the list of partitions for job.Batch.Among: the one that the user named, else all that were compared;
// empty where it is only one.
func partitionsAmong(asked string, parts []*cluster.Partition) string {
	switch {
	case strings.Contains(asked, ","):
		return asked
	case asked != "" || len(parts) < 2:
		return ""
	}
	return partitionList(parts)
}

// LeavesOut reports whether the job may not use a partition.
func (q *Question) LeavesOut(partition string) bool {
	return slices.ContainsFunc(q.LeftOut, func(x cluster.LeftOut) bool { return x.Partition == partition })
}

// overlaps reports whether two offers have nodes in common, so that an allocation of one takes nodes from the other.
func (o *offer) overlaps(with *offer) bool {
	if o.part == with.part {
		return true
	}
	in := make(map[int]bool, len(o.part.Nodes))
	for _, n := range o.part.Nodes {
		in[n] = true
	}
	return slices.ContainsFunc(with.part.Nodes, func(n int) bool { return in[n] })
}

// named returns the open partitions of a list in sbatch's form, "short,long".
func named(queue *cluster.Queue, list string) (parts []*cluster.Partition, err error) {
	var closed *cluster.Partition
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(queue.Partitions, func(p cluster.Partition) bool { return p.Name == name })
		if i < 0 {
			return nil, partitionError(job.User, fmt.Sprintf("there is no partition %q", name), "use one of: "+strings.Join(openNames(queue), ", "))
		}
		if p := &queue.Partitions[i]; p.Closed == "" {
			parts = append(parts, p)
		} else {
			closed = p
		}
	}
	if len(parts) == 0 {
		return nil, partitionError(job.Transient, fmt.Sprintf("partition %s is closed: %s", closed.Name, closed.Closed),
			"use one of: "+strings.Join(openNames(queue), ", "))
	}
	return parts, nil
}

// partitionError returns an error about --partition. A closed partition is a transient error, because it may open
// again: a job that has begun waits for that and does not fail.
func partitionError(class job.Class, what, do string) error {
	return &job.Error{Class: class, Code: job.CodeConfig, Where: "--partition", What: what, Do: do}
}

// openNames returns the names of the open partitions.
func openNames(queue *cluster.Queue) []string {
	var names []string
	for _, p := range queue.Partitions {
		if p.Closed == "" {
			names = append(names, p.Name)
		}
	}
	if names == nil {
		return []string{"none is open"}
	}
	return names
}

func reasonsClosed(queue *cluster.Queue) string {
	var why []string
	for _, p := range queue.Partitions {
		why = append(why, p.Name+": "+p.Closed)
	}
	if why == nil {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// Anywhere has a spec whose partition is cluster.Anywhere name all partitions that the job may use, and returns the others.
func Anywhere(queue *cluster.Queue, spec *job.Spec) ([]cluster.LeftOut, error) {
	if queue == nil || !queue.Means(spec.Request.Partition) {
		return nil, nil
	}
	names, out := queue.PartitionsFor(accessOf(spec))
	if names == nil {
		var why []string
		for _, x := range out {
			why = append(why, x.Partition+": "+x.Why)
		}
		return nil, partitionError(job.User, "you may use no partition ("+strings.Join(why, "; ")+")", "name an account or a QOS that may, or ask the administrator of the cluster")
	}
	spec.Request.Partition, spec.Request.Anywhere = strings.Join(names, ","), true
	return out, nil
}

// accessOf returns what decides in which partitions a job may run. It may lose nodes if its user says so, or says what a task that starts again
// needs: a status for that, or outputs of which only one attempt commits all.
func accessOf(spec *job.Spec) cluster.Access {
	r := &spec.Request
	restarts := r.PreemptibleOK || spec.Bag != nil && spec.Bag.RequeueExit > 0 || spec.Terms().Duplicates
	return cluster.Access{Account: r.Account, QOS: r.QOS, PreemptibleOK: restarts}
}

// limits are the bounds of user, partition and accounting on one allocation.
type limits struct {
	minNodes, maxNodes int           // maxNodes: math.MaxInt is no bound
	maxTime            float64       // seconds; +Inf: no bound
	maxWall            float64       // the longest wall time that can be requested: maxTime in whole grains
	minTime            float64       // seconds
	minCPUs            int           // of all nodes together
	nodesBy, timeBy    string        // the source of the bound, in words
	cpus, gpus         cluster.Limit // of all nodes together
}

// limitsOf returns the bounds on an allocation in a partition.
func (a *adaptor) limitsOf(p *cluster.Partition) limits {
	r := a.req
	allowed, by := a.q.Snap.Queue.Accounting.Allows(r.Account, r.QOS, p), "partition "+p.Name
	nodes := cluster.Least(cluster.Limit{Value: int64(r.MaxNodes), By: "--nodes"}, cluster.Limit{Value: int64(p.MaxNodes), By: by}, allowed.Nodes)
	limit := cluster.Least(cluster.Limit{Value: int64(r.MaxTime), By: "--time"}, cluster.Limit{Value: int64(p.MaxTime), By: by}, allowed.Time)
	longest := time.Duration(limit.Value)
	l := limits{
		minNodes: max(1, r.MinNodes, p.MinNodes), maxNodes: cmp.Or(int(nodes.Value), math.MaxInt), nodesBy: nodes.By,
		minTime: p.MinTime.Seconds(), maxTime: limitSeconds(longest), maxWall: limitSeconds(longest), timeBy: limit.By,
		minCPUs: max(p.MinCPUs, int(allowed.Least)), cpus: allowed.CPUs, gpus: allowed.GPUs,
	}
	if longest >= a.grain {
		l.maxWall = longest.Truncate(a.grain).Seconds()
	}
	return l
}

// ofNodes returns the bounds on an allocation whose nodes have these resources each.
func (l limits) ofNodes(size job.Resources) limits {
	l.minNodes = max(l.minNodes, ceilDiv(l.minCPUs, size.CPUs))
	for _, x := range []struct {
		limit cluster.Limit
		each  int
	}{{l.cpus, max(size.CPUs, 1)}, {l.gpus, size.GPUs}} {
		if x.limit.Value == 0 || x.each == 0 {
			continue
		}
		if most := x.limit.Value / int64(x.each); most < int64(l.maxNodes) {
			l.maxNodes, l.nodesBy = int(most), x.limit.By
		}
	}
	return l
}
