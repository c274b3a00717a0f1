package predict

import "berth/internal/job"

// Collector gathers the measurements of a run, attempt by attempt, in memory that
// does not grow with their number. The zero Collector is ready for use.
type Collector struct {
	parts   Measures
	lastMap job.Time // the latest end of a map
}

// Measures returns what was gathered so far. It is not a copy.
func (c *Collector) Measures() Measures { return c.parts }

// Add counts one attempt that was done: its phases, in order. Only attempts that
// ended Done belong here; what a failed, lost or killed one took says nothing of
// the task. A reduce is to be added after the maps it read, which both the order
// of the journal and that of task indices ensure.
func (c *Collector) Add(kind job.TaskKind, phases []job.PhaseStat) {
	if len(phases) == 0 {
		return
	}
	if c.parts == nil {
		c.parts = Measures{}
	}
	for i, st := range phases {
		m := c.parts.at(PhasePart(st.Phase))
		m.Add(sampleOf(st))
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

// addReduce parts a reduce into its shuffle and the rest. A shuffle that began
// before the last map ended is of the first wave: it overlaps the maps, and only
// what comes after them counts (Sh1 of ARIA). Both parts are set against the bytes
// handed to the reducer, as a shuffle that reads local files copies nothing.
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
		part, s := OtherShuffle, sampleOf(*shuffle)
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

func sampleOf(st job.PhaseStat) Sample {
	return Sample{
		Seconds: st.Duration().Seconds(), CPU: st.CPU.Seconds(), Memory: st.PeakMemory,
		BytesIn: st.BytesIn, BytesOut: st.BytesOut, RecordsIn: st.RecordsIn, RecordsOut: st.RecordsOut,
	}
}

// join returns consecutive phases as one stretch: what the first one reads goes in,
// what the last one that writes puts out comes out. A wait between phases is not
// the task's and does not count.
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
