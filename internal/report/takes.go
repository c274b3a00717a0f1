package report

import (
	"math"
	"time"

	"berth/internal/job"
)

// Takes is what one attempt takes of its node while it is in a phase, on average over the time of all
// attempts that were done, without the time in which there was nothing to do (job.PhaseStat.Busy). What was not measured is nil.
type Takes struct {
	CPU  *float64 `json:"cpu"`      // cores
	Mem  *int64   `json:"mem"`      // bytes: the highest peak
	Disk *float64 `json:"disk_bps"` // bytes/s read from disks and written to files
	Net  *float64 `json:"net_bps"`  // bytes/s fetched from other nodes
}

// taken is what attempts took of one resource in a phase.
type taken struct {
	amount float64 // core-seconds or bytes
	time   time.Duration
	known  bool
}

// add counts a phase in which the resource was measured.
func (t *taken) add(s job.PhaseStat, r job.Resource, amount float64) {
	if s.Missing.Has(r) {
		return
	}
	t.amount += amount
	t.time += s.Busy()
	t.known = true
}

// bytes returns the rate in whole bytes a second, nil where it was not measured.
func (t *taken) bytes() *float64 {
	r := t.rate()
	if r != nil {
		*r = math.Round(*r)
	}
	return r
}

// rate returns the mean amount a second, nil where it was not measured.
func (t *taken) rate() *float64 {
	switch {
	case !t.known:
		return nil
	case t.time == 0:
		return new(0.0)
	}
	return new(round(t.amount / t.time.Seconds()))
}

// takes returns what an attempt takes in the phase.
func (p *phaseSum) takes() Takes {
	t := Takes{CPU: p.cores.rate(), Disk: p.disk.bytes(), Net: p.net.bytes()}
	if p.cores.known || p.peak > 0 { // a phase without a program and without buffers holds nothing
		t.Mem = new(p.peak)
	}
	return t
}
