package predict

import "berth/internal/core/job"

// Collector gathers the measurements of a run, attempt by attempt, in memory that does not grow with their number.
// The zero Collector is ready to use.
type Collector struct {
	parts   Measures
	lastMap job.Time // the latest end of a map
	ends    Ends
}

// Measures returns the measurements so far. It is not a copy.
func (c *Collector) Measures() Measures { return c.parts }

// Add counts the phases, in order, of one attempt that ended Done; durations of failed, lost or killed attempts say
// nothing about the task. Reduces must be added after the maps that they read, which both the order of the journal
// and that of task indices ensure.
func (c *Collector) Add(kind job.TaskKind, phases []job.PhaseStat) {
	if len(phases) == 0 {
		return
	}
	if c.parts == nil {
		c.parts = Measures{}
	}
	for i, st := range phases {
		m := c.parts.at(PhasePart(st.Phase))
		m.Add(SampleOf(st))
		m.Use.Add(&phases[i])
	}
	switch kind {
	case job.MapTask:
		c.parts.at(MapTask).Add(join(phases))
		c.lastMap = max(c.lastMap, phases[len(phases)-1].End)
	case job.ReduceTask:
		c.addReduce(phases)
	default:
		c.parts.at(BagTask).Add(join(phases))
	}
}

// addReduce divides a reduce into its shuffle and the rest. A shuffle that began before the last map ended belongs to
// the first wave: it overlaps the maps, and only its part after them counts (Sh1 of ARIA). Both parts are related to
// the bytes handed to the reducer, because a shuffle that reads local files copies nothing.
func (c *Collector) addReduce(phases []job.PhaseStat) {
	var rest []job.PhaseStat
	var shuffle *job.PhaseStat
	var in int64
	for i, st := range phases {
		switch st.Phase {
		case job.PhaseShuffle:
			shuffle = &phases[i]
			continue
		case job.PhaseReduce:
			in = st.BytesIn
		}
		rest = append(rest, st)
	}
	if shuffle != nil {
		part, s := OtherShuffle, SampleOf(*shuffle)
		if shuffle.Start < c.lastMap {
			part = FirstShuffle
			s.Seconds = min(s.Seconds, max(0, shuffle.End.Sub(c.lastMap).Seconds()))
		}
		s.BytesIn = in
		c.parts.at(part).Add(s)
	}
	if len(rest) > 0 {
		s := join(rest)
		s.BytesIn = in
		c.parts.at(ReduceTask).Add(s)
	}
}

// SampleOf returns what was measured of a phase.
func SampleOf(st job.PhaseStat) Sample {
	return Sample{
		Seconds: st.Duration().Seconds(), CPU: st.CPU.Seconds(), Memory: st.PeakMemory,
		BytesIn: st.BytesIn, BytesOut: st.BytesOut, RecordsIn: st.RecordsIn, RecordsOut: st.RecordsOut,
	}
}

// join returns consecutive phases as one sample: with the input of the first phase and the output of the last one
// that writes. Waits between phases are not part of the task and do not count.
func join(phases []job.PhaseStat) Sample {
	s := Sample{BytesIn: phases[0].BytesIn, RecordsIn: phases[0].RecordsIn}
	for _, st := range phases {
		s.Seconds += st.Duration().Seconds()
		s.CPU += st.CPU.Seconds()
		s.Memory = max(s.Memory, st.PeakMemory)
		if st.BytesOut > 0 {
			s.BytesOut, s.RecordsOut = st.BytesOut, st.RecordsOut
		}
	}
	return s
}
