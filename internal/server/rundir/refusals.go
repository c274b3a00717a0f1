package rundir

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver"
	"berth/internal/sys/statedir"
)

const (
	rememberFor  = 6 * time.Hour
	mostRefusals = 200 // that may follow each other at submission
)

// A refusal is what a batch system has refused, and what it may accept instead.
type refusal struct {
	Refused, Most job.AllocRequest // of Most only nodes, resources and time count
	Why           string
	At            job.Time
	N             int // how often it was refused when it was submitted; 0: when the batch system was asked, which can be done again
}

// refusals are those of the last hours, by the terms of requests in one partition. They are a file in the state folder.
type refusals map[string]refusal

func refusalsFile(h statedir.Home) string { return filepath.Join(h.Server(), "refused") }

func readRefusals(h statedir.Home, now job.Time) refusals {
	all := refusals{}
	_ = statedir.ReadJSON(refusalsFile(h), &all) // what is not known is found out again
	maps.DeleteFunc(all, func(_ string, r refusal) bool { return now.Sub(r.At) > rememberFor })
	return all
}

func (all refusals) save(h statedir.Home) { _ = statedir.WriteJSON(refusalsFile(h), all) }

// termsOf returns the terms of requests in one partition, as a text.
func termsOf(b job.Batch) string {
	b.Among = ""
	return b.Key()
}

// words says what is refused.
func (r *refusal) words() string {
	return fmt.Sprintf("%s refuses larger requests than %s in %s: %s", r.Refused.On, sizeOf(&r.Most), r.Refused.Batch.Partition, r.Why)
}

func sizeOf(r *job.AllocRequest) string {
	return fmt.Sprintf("%s × %s for %s", job.Count(r.Nodes, "node"), r.PerNode.Words(), job.FormatDuration(r.Time))
}

// lower bounds what the question's partition of a refusal allows.
func (r *refusal) lower(q *plan.Question) {
	queue := *q.Snap.Queue
	queue.Partitions = slices.Clone(queue.Partitions)
	for i := range queue.Partitions {
		if p := &queue.Partitions[i]; p.Name == r.Refused.Batch.Partition {
			p.MaxTime, p.MaxNodes = least(p.MaxTime, r.Most.Time), least(p.MaxNodes, r.Most.Nodes)
			p.MaxPerNode.CPUs, p.MaxPerNode.Mem = least(p.MaxPerNode.CPUs, r.Most.PerNode.CPUs), least(p.MaxPerNode.Mem, r.Most.PerNode.Mem)
		}
	}
	q.Snap.Queue, q.Checks = &queue, nil
}

// least returns the lower one of two bounds. 0 is none.
func least[T int | int64 | time.Duration](a, b T) T {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// heed has a question stay within what is known to be accepted, and returns it in words. The batch system is asked again about what it had
// refused when it was asked, as it may accept that by now. used are the keys of what counts.
func (all refusals) heed(ctx context.Context, h statedir.Home, q *plan.Question, tester driver.Tester) (used, notes []string) {
	if len(all) == 0 || q.Snap.Queue == nil {
		return nil, nil
	}
	for _, p := range q.Snap.Queue.Partitions {
		b := q.Spec.Request.Batch(p.Name)
		b.Cluster = q.Snap.Queue.ID
		key := termsOf(b)
		r, ok := all[key]
		if !ok || r.Refused.On != q.Snap.Driver {
			continue
		}
		if r.N == 0 && tester != nil {
			if _, err := tester.Test(ctx, r.Refused); err == nil {
				delete(all, key)
				all.save(h)
				continue
			}
		}
		r.lower(q)
		used, notes = append(used, key), append(notes, r.words()+" (since "+r.At.Std().Local().Format("15:04")+")")
	}
	return used, notes
}

// Refused remembers that a batch system has refused a request when it was submitted, and reports whether it may accept a smaller one: for half the
// time if it speaks of that, else of half the nodes, then of half of each node, then for half the time.
func Refused(h statedir.Home, now job.Time, req job.AllocRequest, why string) bool {
	if !driver.OfAmount(why) {
		return false
	}
	all, key := readRefusals(h, now), termsOf(req.Batch)
	defer func() { all.save(h) }()
	r := all[key]
	most := job.AllocRequest{Nodes: req.Nodes, PerNode: req.PerNode, Time: cmp.Or(req.Time, mostTime)}
	if m := &r.Most; r.At != 0 && (most.Nodes > m.Nodes || most.PerNode.CPUs > m.PerNode.CPUs || most.Time > m.Time) {
		r.N++ // it was requested before that was known
		all[key] = r
		return r.N < mostRefusals
	}
	half := (most.Time / 2).Truncate(time.Minute)
	switch {
	case driver.OfTime(why) && !driver.OfExtent(why) && half > 0:
		most.Time = half
	case most.Nodes > 1:
		most.Nodes /= 2
	case most.PerNode.CPUs > 1:
		most.PerNode = coresOf(most.PerNode, most.PerNode.CPUs/2)
	case half > 0:
		most.Time = half
	default:
		delete(all, key)
		return false
	}
	all[key] = refusal{Refused: req, Most: most, Why: why, At: now, N: r.N + 1}
	return true
}

// none returns the error of a plan that finds nothing within what is accepted. That is forgotten, as it leads nowhere.
func (all refusals) none(h statedir.Home, used, notes []string, err error) error {
	for _, key := range used {
		delete(all, key)
	}
	all.save(h)
	return job.ConfigError("", strings.Join(notes, "; ")+"; within that: "+err.Error(), "")
}
