package predict

import (
	"maps"
	"slices"

	"berth/internal/core/job"
)

// Part names what is measured: a phase, or a part of a task that an invariant of the completion-time model describes.
// The store keeps parts by name.
type Part string

// The parts of tasks. A map, for example, is measured as a whole, because the longest task is shorter than the sum of the
// longest of each phase.
const (
	BagTask      Part = "task:bag"           // fetch, compute and store
	MapTask      Part = "task:map"           // map and merge
	FirstShuffle Part = "task:shuffle-first" // the part of a shuffle after the last map, of reduces that began before it
	OtherShuffle Part = "task:shuffle-other" // the shuffle of reduces that began after the last map
	ReduceTask   Part = "task:reduce"        // sort and reduce, which use a core
)

// PhasePart returns the part of a phase.
func PhasePart(p job.Phase) Part { return Part("phase:" + p.String()) }

// Sample is one measurement of a part.
type Sample struct {
	Seconds               float64
	BytesIn, BytesOut     int64
	RecordsIn, RecordsOut int64
	CPU                   float64 // core-seconds
	Memory                int64   // bytes at the peak
}

// Measure is the sum of many samples of a part. The zero Measure is empty.
type Measure struct {
	Time                  Sketch
	BytesIn, BytesOut     int64
	RecordsIn, RecordsOut int64
	CPU                   float64 // core-seconds, summed
	MemorySum             float64 // bytes: peaks summed
	MemoryMax             int64   // bytes: the highest peak
	InSq                  float64 // Σ bytes in², for the regression of time on size
	InTime                float64 // Σ bytes in × seconds

	Use PhaseUse // of a phase: its use of the node's resources; empty in profiles of older versions

	Memory Memories // of a bag's tasks, in the order in which they ended; see LastMemory

	Curves []job.Curve // of a whole task: progress over time of some finished attempts, in the order in which they ended
}

// Add counts one sample.
func (m *Measure) Add(s Sample) {
	m.Time.Add(s.Seconds)
	m.BytesIn += s.BytesIn
	m.BytesOut += s.BytesOut
	m.RecordsIn += s.RecordsIn
	m.RecordsOut += s.RecordsOut
	m.CPU += s.CPU
	m.MemorySum += float64(s.Memory)
	m.MemoryMax = max(m.MemoryMax, s.Memory)
	in := float64(s.BytesIn)
	m.InSq += in * in
	m.InTime += in * max(s.Seconds, 0)
}

// Merge adds the samples of o.
func (m *Measure) Merge(o *Measure) {
	m.Time.Merge(&o.Time)
	m.BytesIn += o.BytesIn
	m.BytesOut += o.BytesOut
	m.RecordsIn += o.RecordsIn
	m.RecordsOut += o.RecordsOut
	m.CPU += o.CPU
	m.MemorySum += o.MemorySum
	m.MemoryMax = max(m.MemoryMax, o.MemoryMax)
	m.InSq += o.InSq
	m.InTime += o.InTime
	m.Use.Merge(&o.Use)
	m.mergeCurves(o)
	m.mergeMemory(o)
}

// Selectivity returns bytes out per byte in, 0 without input.
func (m *Measure) Selectivity() float64 { return ratio(float64(m.BytesOut), float64(m.BytesIn)) }

// Measures maps each measured part to its measure.
type Measures map[Part]*Measure

// Parts returns the measured parts, sorted.
func (ms Measures) Parts() []Part { return slices.Sorted(maps.Keys(ms)) }

// Get returns the measure of a part, an empty one if it was not measured.
func (ms Measures) Get(p Part) *Measure {
	if m := ms[p]; m != nil {
		return m
	}
	return &Measure{}
}

// count returns how many samples of a part there are.
func (ms Measures) count(p Part) float64 { return float64(ms.Get(p).Time.Count) }

// Merge adds the samples of o.
func (ms Measures) Merge(o Measures) {
	for _, p := range o.Parts() {
		ms.at(p).Merge(o[p])
	}
}

// Demands returns the demand of each measured phase at full speed.
func (ms Measures) Demands() []job.PhaseDemand {
	var list []job.PhaseDemand
	for p := job.PhaseNone + 1; p < job.NumPhases; p++ {
		if d, ok := ms.Get(PhasePart(p)).Use.Demand(p); ok {
			list = append(list, d)
		}
	}
	return list
}

// at returns the measure of a part and creates it if needed.
func (ms Measures) at(p Part) *Measure {
	m := ms[p]
	if m == nil {
		m = &Measure{}
		ms[p] = m
	}
	return m
}

// ratio returns a/b, 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
