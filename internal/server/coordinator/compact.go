package coordinator

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// minCompact is how many allocations have to be of no use to anybody before the journal of
// nodes and allocations is written anew.
const minCompact = 32

// compact takes what concerns allocations that are over, and on which no job that is in
// memory can have run, out of the journal of nodes and allocations. The last one stays, as
// it tells which numbers were given. It is called once, after the replay. A stand-in does not
// know all jobs, and leaves that to others.
func (s *Server) compact() {
	if s.opts.StandIn {
		return
	}
	gone, uncleared := s.nodes.Dismiss(s.engine.Oldest()), s.engine.Uncleared()
	gone = slices.DeleteFunc(gone[:max(0, len(gone)-1)], func(id job.AllocID) bool { return slices.Contains(uncleared, id) })
	if len(gone) < minCompact {
		return
	}
	slices.Sort(gone)
	err := s.journals.Compact("", func(e event.Entry) bool {
		of, ok := allocOf(e.Record)
		_, drop := slices.BinarySearch(gone, of)
		return !ok || !drop
	})
	if err != nil {
		s.log.Warn("the journal of nodes and allocations cannot be compacted and keeps its size", "err", err)
		return
	}
	s.log.Info("the journal of nodes and allocations is compacted", "allocs", len(gone))
}

// allocOf returns the allocation that a record is about, false for one that is about none.
func allocOf(r event.Record) (job.AllocID, bool) {
	switch r := r.(type) {
	case event.AllocRequested:
		return r.Alloc, true
	case event.AllocBegan:
		return r.Alloc, true
	case event.AllocEnded:
		return r.Alloc, true
	case event.AllocCleared:
		return r.Alloc, true
	case event.AllocPaused:
		return r.Alloc, true
	case event.AllocUsed:
		return r.Alloc, true
	case event.NodeJoined:
		return r.Node.Alloc(), true
	case event.NodeLost:
		return r.Node.Alloc(), true
	}
	return "", false
}
