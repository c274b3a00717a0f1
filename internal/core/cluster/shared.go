package cluster

import (
	"cmp"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// Account is a limit on all jobs in an account and in those below it.
type Account struct {
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	Nodes  int64  `json:"nodes,omitempty"` // 0: no limit
	CPUs   int64  `json:"cpus,omitempty"`  // 0: no limit
	GPUs   int64  `json:"gpus,omitempty"`  // 0: no limit
}

// share is a limit on several jobs together.
type share struct {
	all    int64                   // how much they may have
	of     func(job.Resources) int // how much of it a node with these resources takes
	counts func(*Queued) bool      // reports whether the limit holds for a job
}

// Units of limits.
func wholeNodes(job.Resources) int { return 1 }
func cpusOf(r job.Resources) int   { return r.CPUs }
func allGPUs(r job.Resources) int  { return r.GPUs }

// units has what is counted by each bound on several jobs together.
var units = map[Bound]func(job.Resources) int{
	GroupNodes: wholeNodes, UserNodes: wholeNodes, GroupCPUs: cpusOf, UserCPUs: cpusOf, GroupGPUs: allGPUs, UserGPUs: allGPUs,
}

// Left returns how many nodes of the view are left, from the instant of the snapshot on, by the limits on all jobs of
// an account, of a QOS or of a user; nil without such a limit. Running jobs count up to their time limits, pending
// jobs from their planned start on, and the user's own pending jobs without a planned start from now on.
func (s *Snapshot) Left(account, qos string, v View) *timeline.Timeline {
	var left *timeline.Timeline
	v.PerNode.CPUs = max(v.PerNode.CPUs, 1)
	for _, x := range s.shares(account, qos, v.Partition) {
		if x.of(v.PerNode) == 0 {
			continue // the worker has none of what is limited
		}
		line := s.unused(x, v)
		if left == nil {
			left = line
		} else {
			left.Cap(line)
		}
	}
	return left
}

// unused returns how many nodes of the view one limit leaves.
func (s *Snapshot) unused(x share, v View) *timeline.Timeline {
	used := timeline.New(s.At, int(min(x.all, math.MaxInt32)))
	use := func(j *Queued, from, to job.Time) {
		if x.counts(j) {
			used.Add(from, to, -j.Count*x.of(j.PerNode))
		}
	}
	for i := range s.Queue.Running {
		j := &s.Queue.Running[i]
		use(j, s.At, s.latestEnd(j))
	}
	for i := range s.Queue.Pending {
		j := &s.Queue.Pending[i]
		if from := max(j.Start, s.At); j.Held == "" && (j.Start > 0 || j.User == s.Queue.User) {
			use(j, from, timeline.After(from, cmp.Or(j.Limit, timeline.Unbounded)))
		}
	}
	line := timeline.New(s.At, 0)
	steps := used.Steps()
	for i, step := range steps {
		end := timeline.Never
		if i+1 < len(steps) {
			end = steps[i+1].Start
		}
		line.Add(step.Start, end, max(0, step.Free)/x.of(v.PerNode))
	}
	return line
}

// latestEnd returns the latest end of a running job; a job past its limit ends after grace.
func (s *Snapshot) latestEnd(j *Queued) job.Time {
	to := timeline.After(j.Start, cmp.Or(j.Limit, timeline.Unbounded))
	if to <= s.At {
		to = s.At.Add(grace)
	}
	if j.Free != 0 {
		to = min(to, max(j.Free, s.At.Add(time.Second)))
	}
	return to
}

// shares returns the limits that a job of the user shares with other jobs. As in Allows, the first level that sets a
// bound counts, except that the bounds of all accounts above one another count.
func (s *Snapshot) shares(account, qos, partition string) (out []share) {
	a := s.Queue.Accounting
	p := &Partition{Name: partition}
	for i := range s.Queue.Partitions {
		if x := &s.Queue.Partitions[i]; x.Name == partition {
			p = x
		}
	}
	add := func(of Bound, value int64, counts func(*Queued) bool) {
		if unit := units[of]; unit != nil {
			out = append(out, share{value, unit, counts})
		}
	}
	me, set := s.Queue.User, [numBounds]bool{}
	level := func(bounds Bounds, in func(*Queued) bool) {
		for b, v := range bounds {
			if v == 0 || set[b] {
				continue
			}
			set[b] = true
			mine := Bound(b) == UserNodes || Bound(b) == UserCPUs || Bound(b) == UserGPUs
			add(Bound(b), v, func(j *Queued) bool { return in(j) && (!mine || j.User == me) })
		}
	}
	here := func(j *Queued) bool { return j.Partition == p.Name }
	level(p.Bounds, here)
	as := a.association(account, p.Name)
	if as == nil {
		return out
	}
	first, then := a.levels(as, qos, p)
	for _, q := range []QOS{first, then} {
		level(q.Bounds, func(j *Queued) bool { return j.QOS == q.Name || q.Name == p.QOS && here(j) })
	}
	for _, b := range []Bound{GroupNodes, GroupCPUs, GroupGPUs} {
		if set[b] {
			continue
		}
		if v := as.Bounds[b]; v > 0 {
			add(b, v, func(j *Queued) bool { return j.User == me && j.Account == as.Account })
		}
		for _, above := range a.above(as.Account) {
			if v := above.limit(b); v > 0 {
				add(b, v, func(j *Queued) bool { return a.within(j.Account, above.Name) })
			}
		}
	}
	return out
}

// limit returns the account's limit for one of the bounds on a group.
func (x Account) limit(b Bound) int64 {
	switch b {
	case GroupNodes:
		return x.Nodes
	case GroupCPUs:
		return x.CPUs
	default:
		return x.GPUs
	}
}

// above returns an account and the accounts above it.
func (a *Accounting) above(name string) (all []Account) {
	for range len(a.Accounts) { // bounds the loop even if parents form a cycle
		i := slices.IndexFunc(a.Accounts, func(x Account) bool { return x.Name == name })
		if i < 0 {
			break
		}
		all, name = append(all, a.Accounts[i]), a.Accounts[i].Parent
	}
	return all
}

// within reports whether an account is the other one or below it.
func (a *Accounting) within(name, other string) bool {
	return slices.ContainsFunc(a.above(name), func(x Account) bool { return x.Name == other })
}
