package report

import (
	"math"
	"time"

	"berth/internal/core/job"
)

// Takes is the mean use of a node by one attempt in a phase, over the time of all attempts that are done, without
// the time in which they had nothing to do (job.PhaseStat.Busy). Values that were not measured are nil.
type Takes struct {
	CPU  *float64 `json:"cpu"`      // cores that one attempt uses, on average, without waiting; null: none was done
	Mem  *int64   `json:"mem"`      // bytes that it takes: the greatest of any attempt that was done; null: not known, as above
	Disk *float64 `json:"disk_bps"` // bytes a second read from disks and written to files, likewise; null: not known
	Net  *float64 `json:"net_bps"`  // bytes a second fetched from other nodes, likewise; null: none was done
}

// taken is the use of one resource by attempts in a phase.
type taken struct {
	amount float64 // core-seconds or bytes
	time   time.Duration
	known  bool
}

// add adds a phase in which the resource was measured.
func (t *taken) add(s job.PhaseStat, r job.Resource, amount float64) {
	if s.Missing.Has(r) {
		return
	}
	t.amount += amount
	t.time += s.Busy()
	t.known = true
}

// bytes returns the rate in bytes per second, or nil if it was not measured.
func (t *taken) bytes() *float64 {
	r := t.rate()
	if r != nil {
		*r = math.Round(*r)
	}
	return r
}

// rate returns the mean amount per second, or nil if it was not measured.
func (t *taken) rate() *float64 {
	switch {
	case !t.known:
		return nil
	case t.time == 0:
		return new(0.0)
	}
	return new(round(t.amount / t.time.Seconds()))
}

// takes returns the mean use by an attempt in the phase.
func (p *phaseSum) takes() Takes {
	t := Takes{CPU: p.cores.rate(), Disk: p.disk.bytes(), Net: p.net.bytes()}
	if p.cores.known || p.MemoryMax > 0 { // a phase without a program and without buffers holds nothing
		t.Mem = new(p.MemoryMax)
	}
	return t
}
