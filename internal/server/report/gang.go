package report

import (
	"iter"
	"time"

	"berth/internal/core/job"
)

// ShareView is the part of an attempt of several ranks on one of its nodes.
type ShareView struct {
	Node    string  `json:"node"`
	Host    string  `json:"host"`                     // name of the machine; empty: not known
	Ranks   int     `json:"ranks"`                    // ranks there
	CPUS    float64 `json:"cpu_s,omitempty"`          // processor time used there; may be absent: it runs, or not known
	PeakMem int64   `json:"peak_mem_bytes,omitempty"` // the most memory used at once; may be absent, likewise
}

// ranks returns how many ranks the attempt has.
func (a *attempt) ranks() (n int) {
	for _, s := range a.gang {
		n += s.Ranks
	}
	return max(1, n)
}

// nodes returns the nodes of the attempt, that of its program first.
func (a *attempt) nodes() iter.Seq[job.NodeID] {
	return func(yield func(job.NodeID) bool) {
		if !yield(a.node) || len(a.gang) == 0 {
			return
		}
		for _, s := range a.gang[1:] {
			if !yield(s.Node) {
				return
			}
		}
	}
}

// shares returns the parts of an attempt of several ranks, nil for one of a single process.
func (j *Job) shares(a *attempt) (views []ShareView) {
	for _, s := range a.gang {
		views = append(views, ShareView{Node: string(s.Node), Host: j.host(s.Node), Ranks: s.Ranks})
	}
	return views
}

// sharesUsed returns the parts of an attempt that is over, with what each used.
func (j *Job) sharesUsed(r *ending) []ShareView {
	views := j.shares(r.attempt)
	for i := range min(len(views), len(r.Shares)) {
		views[i].CPUS, views[i].PeakMem = round(r.Shares[i].CPU.Seconds()), r.Shares[i].Memory
	}
	return views
}

// byNode returns the measurements of the phases of an attempt that is over by its nodes. What is known of the attempt as a whole belongs to the
// node of its program; the time of processors and the memory of a gang are those of each node.
func (r *ending) byNode() iter.Seq2[job.NodeID, []job.PhaseStat] {
	return func(yield func(job.NodeID, []job.PhaseStat) bool) {
		var sum time.Duration
		for _, s := range r.Shares {
			sum += s.CPU
		}
		if sum == 0 {
			yield(r.node, r.Stats)
			return
		}
		for i, share := range r.Shares {
			stats := make([]job.PhaseStat, len(r.Stats))
			for k, s := range r.Stats {
				if stats[k] = s; i > 0 {
					stats[k] = job.PhaseStat{Phase: s.Phase, Start: s.Start, End: s.End, Missing: s.Missing}
				}
				stats[k].CPU = time.Duration(float64(s.CPU) * float64(share.CPU) / float64(sum))
				stats[k].PeakMemory = min(s.PeakMemory, share.Memory)
			}
			if !yield(share.Node, stats) {
				return
			}
		}
	}
}
