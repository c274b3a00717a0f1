package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
)

// Types selects the kinds of jobs of the Lublin–Feitelson model.
type Types string

// The kinds of workload.
const (
	// Typed makes batch and interactive jobs. Each kind has its own stream of arrivals, and the next
	// job is that of the earlier arrival.
	Typed       Types = "typed"
	Typeless    Types = "typeless"    // one kind of jobs, fitted to all jobs
	Batch       Types = "batch"       // batch jobs only
	Interactive Types = "interactive" // interactive jobs only
)

// AllTypes are all kinds, as named in scenarios.
var AllTypes = []Types{Typed, Typeless, Batch, Interactive}

// Lublin are the parameters of the Lublin–Feitelson model (models.md, "Workloads of simulations").
type Lublin struct {
	Nodes int   // of the system, at least 1
	Types Types // empty: Typed
	// PeakHour makes jobs arrive as in the busiest hour, without a daily cycle: the times between
	// them are Gamma(Shape, 0.49 s), as in "mr-job-adaptor", section 4. The streams of arrivals
	// still decide which kind is next.
	PeakHour bool
	Shape    float64 // 0: 10.23, which gives a mean of 5.01 s; the paper's Fig. 4a has 4 to 60
}

// LublinJobs generates jobs one after another.
type LublinJobs struct {
	p       Lublin
	rng     *rand.Rand
	streams []lublinStream
	id      int64
	peak    int64 // ms: the last arrival of the peak hour
}

// lublinStream is one kind of jobs with its arrivals.
type lublinStream struct {
	params lublinParams
	cycle  dayCycle
	next   int64 // ms: arrival of its next job
}

// NewLublin returns a generator that draws only from rng.
func NewLublin(p Lublin, rng *rand.Rand) *LublinJobs {
	if p.Shape == 0 {
		p.Shape = peakShape
	}
	g := &LublinJobs{p: p, rng: rng}
	var kinds []lublinParams
	switch p.Types {
	case Typeless:
		kinds = []lublinParams{lublinWhole}
	case Batch:
		kinds = []lublinParams{lublinBatch}
	case Interactive:
		kinds = []lublinParams{lublinInteractive}
	default:
		kinds = []lublinParams{lublinBatch, lublinInteractive}
	}
	for _, k := range kinds {
		s := lublinStream{params: k.sized(p.Nodes), cycle: newDayCycle(k.anum, k.bnum)}
		s.arrive(rng)
		g.streams = append(g.streams, s)
	}
	return g
}

// Next returns the next job. Its request is exact and its user unknown, because the model describes
// neither.
func (g *LublinJobs) Next() Rigid {
	s := &g.streams[0]
	for i := range g.streams {
		if g.streams[i].next < s.next {
			s = &g.streams[i]
		}
	}
	at := s.next
	if g.p.PeakHour {
		g.peak += millis(gamma(g.rng, g.p.Shape, peakScale))
		at = g.peak
	}
	if !g.p.PeakHour || len(g.streams) > 1 {
		s.arrive(g.rng)
	}
	g.id++
	nodes := s.params.nodes(g.rng, g.p.Nodes)
	run := s.params.run(g.rng, nodes)
	return Rigid{ID: g.id, User: -1, Submit: job.Time(at * int64(time.Millisecond)), Nodes: nodes, Run: run, Request: run}
}

// arrive draws the arrival of the stream's next job.
func (s *lublinStream) arrive(rng *rand.Rand) {
	p := &s.params
	gap := math.Inf(1)
	for gap > maxArriveExponent {
		gap = gamma(rng, p.aarr*p.arar, p.barr)
	}
	s.next = s.cycle.advance(millis(math.Exp(gap)))
}

// nodes draws a job's size: 1, a power of two, or any number. The exponent is uniform in two stages.
func (p *lublinParams) nodes(rng *rand.Rand, system int) int {
	u := rng.Float64()
	if u <= p.serial {
		return 1
	}
	low, high := p.low, p.med
	if rng.Float64() > p.prob {
		low, high = p.med, p.high
	}
	exponent := low + (high-low)*rng.Float64()
	if u <= p.serial+p.pow2 {
		exponent = math.Round(exponent)
	}
	return min(max(int(math.Round(math.Exp2(exponent))), 1), system)
}

// run draws the run time of a job, whose logarithm is hyper-gamma distributed.
func (p *lublinParams) run(rng *rand.Rand, nodes int) time.Duration {
	first := p.pa*float64(nodes) + p.pb // not clamped: outside of [0, 1] the choice is certain anyway
	exponent := math.Inf(1)
	for exponent > maxRunExponent {
		if rng.Float64() <= first {
			exponent = gamma(rng, p.a1, p.b1)
		} else {
			exponent = gamma(rng, p.a2, p.b2)
		}
	}
	return duration(math.Exp(exponent))
}
