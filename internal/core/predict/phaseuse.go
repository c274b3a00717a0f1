package predict

import (
	"encoding/binary"
	"errors"
	"math"

	"berth/internal/core/job"
)

// PhaseUse is the use of node resources by many phases of one kind. The zero PhaseUse is empty. Several of them merge
// into one; the result does not depend on the order, except for phases shorter than shortPhase.
type PhaseUse struct {
	phases  int64
	seconds float64 // of all phases
	of      uses
	short   lasting // phases that were too short for a rate of their own
}

// uses is the use of each resource, by job.Resource.
type uses [len(perSecond)]use

// use is the use of one resource by the phases in which it was measured.
type use struct {
	levels         // of rates in the unit of job.Vector, or of peaks of memory
	phases int64   // in which it was measured
	amount float64 // core-nanoseconds or bytes, summed
}

// lasting is the use of phases that lasted nanos together.
type lasting struct {
	nanos   int64
	amount  [len(perSecond)]int64 // core-nanoseconds or bytes; that of memory is not used
	missing job.ResourceSet
}

func lastingOf(s *job.PhaseStat) lasting {
	l := lasting{nanos: int64(s.Busy()), missing: s.Missing}
	l.amount[job.CPU], l.amount[job.Disk], l.amount[job.Net] = max(int64(s.CPU), 0), max(s.DiskBytes, 0), max(s.NetBytes, 0)
	return l
}

func (l *lasting) plus(o *lasting) {
	l.nanos += o.nanos
	l.missing |= o.missing
	for r := range l.amount {
		l.amount[r] += o.amount[r]
	}
}

// Add counts one phase.
func (u *PhaseUse) Add(s *job.PhaseStat) {
	l := lastingOf(s)
	u.phases++
	u.seconds += float64(l.nanos) / 1e9
	for _, r := range rated {
		if !l.missing.Has(r) {
			u.of[r].phases++
			u.of[r].amount += float64(l.amount[r])
		}
	}
	if s.PeakMemory > 0 && !l.missing.Has(job.Memory) {
		u.of[job.Memory].phases++
		u.of[job.Memory].add(s.PeakMemory)
	}
	u.rate(&l)
}

// rate counts the rates of phases that lasted long enough, alone or together with earlier short ones.
func (u *PhaseUse) rate(l *lasting) {
	if l.nanos < int64(shortPhase) {
		u.short.plus(l)
		if u.short.nanos < int64(shortPhase) {
			return
		}
		joined := u.short
		u.short, l = lasting{}, &joined
	}
	for _, r := range rated {
		if !l.missing.Has(r) {
			u.of[r].add(int64(float64(l.amount[r]) * perSecond[r] / float64(l.nanos)))
		}
	}
}

// Demand returns the demand of a phase at full speed, false without a counted phase. A resource that was never
// measured is 0: none of it is reserved.
func (u *PhaseUse) Demand(p job.Phase) (job.PhaseDemand, bool) {
	d := job.PhaseDemand{Phase: p}
	d.Demand = job.Vector{CPU: u.cores(), Memory: u.of[job.Memory].top(spareMemory), Disk: u.of[job.Disk].middle(spareRates), Net: u.of[job.Net].middle(spareRates)}
	d.Seconds = u.fullSpeed(d.Demand)
	return d, u.phases > 0
}

// cores returns the use of cores in thousandths. While all phases are short it is their mean: less exact than a
// quantile of long ones, but a job of short tasks must not count as one that needs no core.
func (u *PhaseUse) cores() int64 {
	if len(u.of[job.CPU].counts) > 0 || u.short.nanos == 0 || u.short.missing.Has(job.CPU) {
		return u.of[job.CPU].middle(spareRates)
	}
	return int64(float64(u.short.amount[job.CPU]) * perSecond[job.CPU] / float64(u.short.nanos))
}

// fullSpeed returns the mean duration of a phase that uses each resource at these rates, in seconds: the largest
// ratio of mean amount to rate. It is at most the measured mean, in which phases waited for each other's resources.
func (u *PhaseUse) fullSpeed(takes job.Vector) float64 {
	mean, longest := ratio(u.seconds, float64(u.phases)), 0.0
	for _, r := range rated {
		if rate := takes.Of(r); rate > 0 {
			each := ratio(u.of[r].amount, float64(u.of[r].phases))
			longest = max(longest, each/float64(rate)*perSecond[r]/1e9)
		}
	}
	if longest == 0 {
		return mean
	}
	return min(mean, longest)
}

// Merge adds the phases of o.
func (u *PhaseUse) Merge(o *PhaseUse) {
	u.phases += o.phases
	u.seconds += o.seconds
	for r := range u.of {
		u.of[r].phases += o.of[r].phases
		u.of[r].amount += o.of[r].amount
		u.of[r].merge(&o.of[r].levels)
	}
	if o.short.nanos > 0 {
		short := o.short
		u.rate(&short)
	}
}

// errUse is the error of UnmarshalBinary for bytes that MarshalBinary did not write.
var errUse = errors.New("malformed use of resources")

// useVersion is the first byte of an encoded PhaseUse.
const useVersion = 1

// MarshalBinary encodes the use as varints after a version byte, and as no bytes if no phase was counted.
func (u *PhaseUse) MarshalBinary() ([]byte, error) {
	if u.phases == 0 {
		return nil, nil
	}
	b := append(make([]byte, 0, 128), useVersion)
	b = binary.AppendUvarint(b, uint64(u.phases))
	b = binary.AppendUvarint(b, math.Float64bits(u.seconds))
	b = binary.AppendUvarint(b, uint64(u.short.nanos))
	b = binary.AppendUvarint(b, uint64(u.short.missing))
	for r := range u.of {
		b = binary.AppendUvarint(b, uint64(u.of[r].phases))
		b = binary.AppendUvarint(b, math.Float64bits(u.of[r].amount))
		b = binary.AppendUvarint(b, uint64(u.short.amount[r]))
		b = u.of[r].append(b)
	}
	return b, nil
}

// UnmarshalBinary decodes the form that MarshalBinary writes.
func (u *PhaseUse) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != useVersion {
		return errUse
	}
	r := varints{b: b[1:]}
	got := PhaseUse{phases: r.count(), seconds: r.float()}
	got.short.nanos, got.short.missing = r.count(), job.ResourceSet(r.count())
	for i := range got.of {
		o := &got.of[i]
		o.phases, o.amount, got.short.amount[i] = r.count(), r.float(), r.count()
		o.read(&r)
	}
	if r.bad || len(r.b) != 0 || got.phases == 0 { // of no phase nothing is written
		return errUse
	}
	*u = got
	return nil
}
