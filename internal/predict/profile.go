package predict

import (
	"math"

	"berth/internal/job"
)

// Profile is what is known of an application on a type of node: the measurements
// of its latest runs together, and what sort of runs they were.
type Profile struct {
	App      string // see Application
	NodeType string // see NodeType
	Runs     int    // how many runs went into it
	Latest   job.Time

	MinInput, MaxInput int64 // bytes of input of the smallest and the largest run
	MinTasks, MaxTasks int   // bag tasks or maps, likewise

	Measures Measures

	// Bytes of input that stand behind the measured maps and reduces: each one's
	// share of its run's input. It is the size of the files, compressed as they are.
	mapInput, reduceInput float64

	runs []pastRun
}

// pastRun is a run that went into a profile.
type pastRun struct {
	size     Size
	ended    job.Time
	measures Measures
}

// Size is how much there is to do.
type Size struct {
	Kind       job.Kind
	InputBytes int64 // 0 where it is not known, as with a bag
	Tasks      int   // bag tasks or maps
	Reduces    int
}

// AddRun merges a run of that size into the profile, which keeps its measures.
func (p *Profile) AddRun(size Size, ended job.Time, m Measures) {
	if p.Measures == nil {
		p.Measures = Measures{}
	}
	if p.Runs == 0 {
		p.MinInput, p.MinTasks = size.InputBytes, size.Tasks
	}
	p.MinInput, p.MaxInput = min(p.MinInput, size.InputBytes), max(p.MaxInput, size.InputBytes)
	p.MinTasks, p.MaxTasks = min(p.MinTasks, size.Tasks), max(p.MaxTasks, size.Tasks)
	p.Latest = max(p.Latest, ended)
	p.Runs++
	p.runs = append(p.runs, pastRun{size, ended, m})
	p.Measures.Merge(m)
	p.mapInput += share(size.InputBytes, size.Tasks) * m.count(MapTask)
	p.reduceInput += share(size.InputBytes, size.Reduces) * m.count(ReduceTask)
}

// Near returns the profile of those runs alone that are closest to the job in size, as
// they need the least scaling: those of about the same input and number of reduces
// where there are any, else those not much further off than the closest. Where all
// are far off, or size does not change what a task takes, as with a bag, it is all of
// them. The number of reduces plays no part while it is not decided (0), nor where no
// run is close with it. A run that was stopped before its reduces is passed over if
// another came to them.
func (p *Profile) Near(size Size) *Profile {
	if size.Kind != job.MapReduce {
		return p
	}
	sub := p.closest(size)
	if sub == nil && size.Reduces > 0 {
		size.Reduces = 0
		sub = p.closest(size)
	}
	if sub == nil {
		return p
	}
	return sub
}

// far is how many times as large or as small a run may be and still be close.
const far = 4

// closest returns the runs that are closest to a size, nil if all are far off.
func (p *Profile) closest(size Size) *Profile {
	best := math.Inf(1)
	for _, r := range p.runs {
		if p.whole(r) {
			best = min(best, distance(size, r.size))
		}
	}
	if best > far {
		return nil
	}
	limit := near
	if best > near {
		limit = best * near
	}
	sub := &Profile{App: p.App, NodeType: p.NodeType}
	for _, r := range p.runs {
		if p.whole(r) && distance(size, r.size) <= limit {
			sub.AddRun(r.size, r.ended, r.measures)
		}
	}
	return sub
}

// whole reports whether a run has measures of all that was ever measured.
func (p *Profile) whole(r pastRun) bool {
	return r.measures.count(ReduceTask) > 0 || p.Measures.count(ReduceTask) == 0
}

// distance returns how many times as large the one is as the other, in input or in
// reduces, whichever differ more; from 1 on. Reduces count where the job's are known.
func distance(job, run Size) float64 {
	d := times(float64(job.InputBytes), float64(run.InputBytes))
	if job.Reduces > 0 {
		d = max(d, times(float64(job.Reduces), float64(run.Reduces)))
	}
	return d
}

// times returns how many times the smaller of two numbers the larger one is.
func times(a, b float64) float64 {
	switch {
	case a == b:
		return 1
	case a == 0 || b == 0:
		return math.Inf(1)
	}
	return max(a/b, b/a)
}

// share returns the part of the input that each of n tasks has.
func share(input int64, n int) float64 { return ratio(float64(input), float64(n)) }

// ReduceSelectivity returns bytes that reducers put out per byte handed to them.
func (p *Profile) ReduceSelectivity() float64 {
	return p.Measures.Get(PhasePart(job.PhaseReduce)).Selectivity()
}

// ReduceBytes returns the bytes that reducers are expected to be handed for so
// much input: in proportion to what they were handed before. Without a measured
// reduce it is all of the input.
func (p *Profile) ReduceBytes(input int64) float64 {
	if p.reduceInput == 0 {
		return float64(input)
	}
	return float64(input) * float64(p.Measures.Get(PhasePart(job.PhaseReduce)).BytesIn) / p.reduceInput
}

// near is how far the size of a job may be from that of the profiled runs, as a
// factor, before its prediction is said to be extrapolated.
const near = 1.25

// Extrapolated returns how many times as large as the largest profiled run, or as
// the smallest, a job is (above or below 1), and 1 where it is about as large as one.
// Size is the input, or the number of tasks where the input is not known.
func (p *Profile) Extrapolated(size Size) float64 {
	n, lo, hi := float64(size.InputBytes), float64(p.MinInput), float64(p.MaxInput)
	if size.InputBytes == 0 || p.MinInput == 0 {
		n, lo, hi = float64(size.Tasks), float64(p.MinTasks), float64(p.MaxTasks)
	}
	switch {
	case n == 0 || lo == 0:
		return 1
	case n > hi*near:
		return n / hi
	case n < lo/near:
		return n / lo
	}
	return 1
}

// Invariants returns what the profile makes of a job of that size, and false where
// a part that the job has was never measured.
func (p *Profile) Invariants(size Size) (Invariants, bool) {
	var inv Invariants
	if size.Kind == job.Bag {
		m := p.Measures.Get(BagTask)
		inv.Map = m.invariant(1)
		return inv, m.Time.Count > 0
	}
	maps := p.Measures.Get(MapTask)
	inv.Map = maps.invariant(growth(share(size.InputBytes, size.Tasks), p.mapInput, maps))
	if maps.Time.Count == 0 || size.Reduces == 0 {
		return inv, maps.Time.Count > 0
	}
	first, other := p.Measures.Get(FirstShuffle), p.Measures.Get(OtherShuffle)
	// Where every reduce began early, later waves cost no more than the first; where
	// none did, the first shuffles overlapped nothing.
	if first.Time.Count == 0 {
		first = other
	}
	if other.Time.Count == 0 {
		other = first
	}
	reduces := p.Measures.Get(ReduceTask)
	g := growth(share(size.InputBytes, size.Reduces), p.reduceInput, reduces)
	inv.FirstShuffle, inv.OtherShuffle, inv.Reduce = first.invariant(g), other.invariant(g), reduces.invariant(g)
	return inv, first.Time.Count > 0 && reduces.Time.Count > 0
}

// growth returns how many times as much input a task has as the measured ones had,
// which had that much together; 1 where either is not known.
func growth(input, measured float64, m *Measure) float64 {
	if input == 0 || measured == 0 {
		return 1
	}
	return input * float64(m.Time.Count) / measured
}
