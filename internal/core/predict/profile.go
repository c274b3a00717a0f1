package predict

import (
	"cmp"
	"math"

	"berth/internal/core/job"
)

// Profile is the merged measurements of the latest runs of an application on a type of node, with the sizes of these
// runs.
type Profile struct {
	App      string // see Application
	NodeType string // see NodeType
	Runs     int    // number of merged runs
	Latest   job.Time

	MinInput, MaxInput int64 // bytes of input of the smallest and the largest run
	MinTasks, MaxTasks int   // bag tasks or maps, likewise

	Measures Measures

	Slow Spells // how often such nodes were slow lately, with any application

	// Sums over the measured maps and reduces of their shares of the run's input, in bytes of the files, compressed or not.
	mapInput, reduceInput float64

	runs []pastRun
}

// pastRun is a run that was merged into a profile.
type pastRun struct {
	size     Size
	ended    job.Time
	measures Measures
}

// Size is the size of a job.
type Size struct {
	Kind       job.Kind
	InputBytes int64 // 0 where it is unknown, as with a bag
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

// Near returns the profile of only the runs whose size is closest to the job's, because they need the least scaling:
// those of about the same input and number of reduces if there are any, else those not much further off than the
// closest. It returns the whole profile where all runs are far off, or where size does not change the duration of a
// task, as with a bag. The number of reduces is ignored while it is not decided (0) and where no run is close with
// it. A run that was stopped before its reduces is skipped if another reached them.
func (p *Profile) Near(size Size) *Profile {
	if size.Kind != job.MapReduce {
		return p
	}
	sub := p.closest(size)
	if sub == nil && size.Reduces > 0 {
		size.Reduces = 0
		sub = p.closest(size)
	}
	return cmp.Or(sub, p)
}

// far is the largest factor between the sizes of a run and a job that count as close.
const far = 4

// closest returns the profile of the runs that are closest to a size, nil if all are far off.
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

// whole reports whether a run has measures of reduces if any run has.
func (p *Profile) whole(r pastRun) bool {
	return r.measures.count(ReduceTask) > 0 || p.Measures.count(ReduceTask) == 0
}

// distance returns the factor, at least 1, between the sizes of a job and a run, in input or in reduces, whichever
// differ more. Reduces count where the job's are known.
func distance(job, run Size) float64 {
	d := times(float64(job.InputBytes), float64(run.InputBytes))
	if job.Reduces > 0 {
		d = max(d, times(float64(job.Reduces), float64(run.Reduces)))
	}
	return d
}

// times returns the ratio of the larger of two numbers to the smaller one.
func times(a, b float64) float64 {
	switch {
	case a == b:
		return 1
	case a == 0 || b == 0:
		return math.Inf(1)
	}
	return max(a/b, b/a)
}

// share returns the part of the input of each of n tasks.
func share(input int64, n int) float64 { return ratio(float64(input), float64(n)) }

// ReduceSelectivity returns the bytes that reducers write per byte that they read.
func (p *Profile) ReduceSelectivity() float64 {
	return p.Measures.Get(PhasePart(job.PhaseReduce)).Selectivity()
}

// ReduceBytes returns the expected bytes that reducers read for an input: in proportion to the measured ones. Without
// a measured reduce it is all of the input.
func (p *Profile) ReduceBytes(input int64) float64 {
	if p.reduceInput == 0 {
		return float64(input)
	}
	return float64(input) * float64(p.Measures.Get(PhasePart(job.PhaseReduce)).BytesIn) / p.reduceInput
}

// near is the factor by which the size of a job may differ from that of the profiled runs before its prediction is
// called extrapolated.
const near = 1.25

// Extrapolated returns the ratio of a job's size to the largest profiled run (above 1) or to the smallest (below 1),
// and 1 where the size is close to the profiled ones. Size is the input, or the number of tasks where the input is
// unknown.
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

// Invariants returns the invariants for a job of that size, and false where a part of the job was never measured.
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
	// Where every reduce began early, later waves count as the first; where none did, the first shuffles overlapped no map.
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

// growth returns the ratio of a task's input to the mean input of the measured ones, whose sum is measured; 1 where
// either is unknown.
func growth(input, measured float64, m *Measure) float64 {
	if input == 0 || measured == 0 {
		return 1
	}
	return input * float64(m.Time.Count) / measured
}
