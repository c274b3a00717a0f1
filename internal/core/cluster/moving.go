package cluster

import (
	"hash/fnv"
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// mostWaiting is how many pending jobs a queue for package starts may have: simulations of more would take seconds.
const mostWaiting = 20_000

// Moving returns the queue for the view's nodes as package starts simulates it: by the same rules as the timeline, but
// by numbers of whole nodes. Where these do not describe the nodes it returns nil and the reason: jobs share nodes, or
// jobs of other partitions use some of them.
func (s *Snapshot) Moving(v View) (q *starts.Queue, why string) {
	if s.Queue == nil || v.Reservation != "" {
		return nil, "jobs that wait for a reservation are not known"
	}
	l := s.lineup(v)
	l.weights = map[kind]float64{}
	m := &moving{lineup: l, to: &starts.Queue{Now: s.At, Nodes: len(l.nodes), Depth: s.Queue.Depth}, has: make([]owner, len(l.nodes))}
	if l.view.Partition != "" {
		m.to.Part = Number(l.view.Partition)
	}
	m.addReservations()
	m.addRunning()
	m.addUnseen()
	m.addWaiting()
	if m.why != "" {
		return nil, m.why
	}
	return m.to, ""
}

// Number returns the number by which package starts knows a user or a partition: a hash of the name, above 0.
func Number(name string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int32(h.Sum32()&math.MaxInt32 | 1)
}

// nobody is the user of uses of nodes that no job in the queue explains.
const nobody int32 = -2

// owner is what has a node at the instant of the snapshot.
type owner int8

const (
	unowned owner = iota
	byReservation
	byJob
)

// moving makes a starts.Queue of a lineup.
type moving struct {
	*lineup
	to  *starts.Queue
	has []owner // by usable node
	why string  // the reason why numbers of nodes do not describe the queue, or empty
}

// addReservations adds the times in which nodes are reserved for others. Jobs that still run on nodes of a present
// reservation do not count, because nobody else gets these nodes when they end.
func (m *moving) addReservations() {
	for _, u := range m.reservations() {
		c := starts.Closed{From: max(u.from, m.snap.At), To: u.to}
		for _, i := range u.nodes {
			if m.state(i) == nil {
				continue
			}
			if c.From > m.snap.At {
				c.Nodes++
			} else if k := m.usable[i]; m.has[k] == unowned {
				m.has[k] = byReservation
				c.Nodes++
			}
		}
		if c.Nodes > 0 {
			m.to.Closed = append(m.to.Closed, c)
		}
	}
}

func (m *moving) addRunning() {
	uses := m.running()
	for i := range uses {
		u, j := &uses[i], &m.queue.Running[i]
		m.applyUse(u, 1)
		n := int32(0)
		for _, at := range u.nodes {
			if m.state(at) == nil || m.has[m.usable[at]] == byReservation {
				continue
			}
			if m.has[m.usable[at]] == byJob || !m.excludes(u, at) {
				m.why = "jobs share nodes"
				return
			}
			m.has[m.usable[at]] = byJob
			n++
		}
		if n > 0 {
			r := starts.Running{Job: m.job(j, n), Start: min(j.Start, m.snap.At)}
			if j.Free != 0 {
				r.Limit = min(r.Limit, max(j.Free, m.snap.At.Add(time.Second)).Sub(r.Start))
			}
			m.to.Running = append(m.to.Running, r)
		}
	}
}

// excludes reports whether the view's worker cannot run on a node beside a use.
func (m *moving) excludes(u *use, at int) bool {
	return u.whole || m.view.Whole || !u.share.Plus(m.view.PerNode).Fits(m.snap.Nodes[at].Capacity)
}

// addUnseen adds resources in use that no running job explains.
func (m *moving) addUnseen() {
	for _, u := range m.unseen() {
		at := u.nodes[0]
		k := m.usable[at]
		if m.has[k] != unowned || !m.excludes(&u, at) {
			continue
		}
		m.has[k] = byJob
		length := timeline.Unbounded
		if u.to != timeline.Never {
			length = u.to.Sub(m.snap.At)
		}
		m.to.Running = append(m.to.Running, starts.Running{Job: starts.Job{User: nobody, Nodes: 1, Limit: length}, Start: m.snap.At})
	}
}

// addWaiting adds the pending jobs that can start, the highest priority first.
func (m *moving) addWaiting() {
	for i := range m.queue.Pending {
		j := &m.queue.Pending[i]
		weight := m.weight(j)
		if weight == 0 || j.Held != "" || m.closed(j) || m.overtaken(j) || j.Count <= 0 {
			continue
		}
		copies := max(j.Repeat, 1)
		switch {
		case math.Abs(weight-1) > slack:
			m.why = "jobs share nodes, or may have nodes of other partitions"
			return
		case len(m.to.Waiting)+copies > mostWaiting:
			m.why = "more than " + job.Count(mostWaiting, "job") + " wait"
			return
		}
		if j.Alloc != "" {
			m.to.Asked = append(m.to.Asked, starts.Asked{Alloc: j.Alloc, Place: len(m.to.Waiting)})
		}
		for range copies {
			m.to.Waiting = append(m.to.Waiting, m.job(j, int32(min(j.Count, math.MaxInt32-1))))
		}
	}
}

// job returns what package starts knows of a job.
func (m *moving) job(j *Queued, nodes int32) starts.Job {
	return starts.Job{User: Number(j.User), Nodes: nodes, Limit: max(m.length(j), time.Second)}
}
