package evaluate

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Constants of the peak hour of Lublin and Feitelson's model as the paper "mr-job-adaptor"
// uses it: gamma-distributed seconds between HPC jobs (models.md, "Workloads of simulations").
const (
	PeakShape = 10.23
	PeakScale = 0.49
)

// HPC describes the HPC jobs of an experiment.
type HPC struct {
	Trace []workload.Rigid // these jobs, if there are any
	Name  string           // the name of Trace in reports

	Types  workload.Types // otherwise jobs of these types from the peak hour of Lublin and Feitelson's model
	Shape  float64        // shape of the gamma-distributed times between the jobs; the scale is PeakScale seconds
	Jobs   int            // number of jobs; 0: as many as arrive within Length
	Length time.Duration  // for Jobs 0
}

// MR describes the MapReduce jobs of an experiment, which are those of the Facebook mix.
type MR struct {
	Every  time.Duration // mean time between jobs, exponentially distributed
	Jobs   int           // number of jobs; 0: as many as arrive within Length
	Length time.Duration // for Jobs 0
	Users  int           // number of users who submit the jobs; 0 means 1
	Bin    int           // only jobs of this bin; 0: of all bins
}

// Mix is the jobs of an experiment and the adaptors that it compares.
type Mix struct {
	HPC   HPC
	MR    MR
	Cases []Case
}

// load is the jobs of a study.
type load struct {
	name string
	hpc  *HPC
	mr   *MR
}

// The names of loads.
const (
	OnlyHPC = "HPC only"
	OnlyMR  = "MR only"
	Mixed   = "HPC+MR"
)

// generator draws the jobs of the i-th replication, or of the i-th load for another purpose.
type generator func(purpose string, i int) ([]workload.Rigid, []workload.Elastic)

// drawn returns the generator of a load's jobs. HPC and MapReduce jobs have separate random sources,
// so that a mix has the same jobs as each kind alone.
func (l load) drawn(seed uint64, nodes int) generator {
	return func(purpose string, i int) (rigid []workload.Rigid, elastic []workload.Elastic) {
		if l.hpc != nil {
			rigid = l.hpc.draw(nodes, rand.New(sourceOf(seed, i, purpose+"hpc")))
		}
		if l.mr != nil {
			elastic = l.mr.draw(rand.New(sourceOf(seed, i, purpose+"mr")))
		}
		return rigid, elastic
	}
}

func (h *HPC) draw(nodes int, rng *rand.Rand) []workload.Rigid {
	if len(h.Trace) > 0 {
		return h.Trace
	}
	g := workload.NewLublin(workload.Lublin{Nodes: nodes, Types: h.Types, PeakHour: true, Shape: h.Shape}, rng)
	if h.Jobs > 0 {
		return workload.Drawn(g.Next, h.Jobs, 0)
	}
	return workload.Drawn(g.Next, 0, h.Length)
}

func (m *MR) draw(rng *rand.Rand) []workload.Elastic {
	g := workload.NewFacebook(workload.Facebook{Every: m.Every, Bin: m.Bin, Users: m.Users}, rng)
	if m.Jobs > 0 {
		return workload.Drawn(g.Next, m.Jobs, 0)
	}
	return workload.Drawn(g.Next, 0, m.Length)
}

// wanted returns the measures whose means must reach the precision.
func (l load) wanted() []Measure {
	ms := []Measure{{Utilization, AllJobs}, {Turnaround, AllJobs}}
	if l.hpc != nil {
		ms = append(ms, Measure{Turnaround, HPCJobs})
	}
	if l.mr != nil {
		ms = append(ms, Measure{Turnaround, MRJobs})
	}
	return ms
}

// kept returns the measures that are reported in addition.
func (l load) kept() []Measure {
	ms := []Measure{{Makespan, AllJobs}}
	if l.hpc != nil {
		ms = append(ms, Measure{Slowdown, HPCJobs}, Measure{Failed, HPCJobs})
	}
	if l.mr != nil {
		ms = append(ms, Measure{Allocations, MRJobs}, Measure{Failed, MRJobs}, Measure{LostWork, MRJobs})
	}
	return ms
}

// sourceOf returns a random source that depends only on its arguments.
func sourceOf(seed uint64, replication int, purpose string) rand.Source {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(replication))
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose))
	binary.LittleEndian.PutUint64(key[16:], h.Sum64())
	return rand.NewChaCha8(key)
}

// seedOf returns the seed of a replication.
func seedOf(seed uint64, replication int) uint64 { return sourceOf(seed, replication, "sim").Uint64() }

func (h *HPC) text() string {
	if len(h.Trace) > 0 {
		return fmt.Sprintf("HPC jobs: %d %s", len(h.Trace), h.Name)
	}
	return fmt.Sprintf("HPC jobs: %s of Lublin and Feitelson's model (%s), gamma(%g, %g s) apart", amount(h.Jobs, h.Length), h.Types, h.Shape, PeakScale)
}

func (m *MR) text() string {
	mix := "of the Facebook mix"
	if m.Bin > 0 {
		mix = fmt.Sprintf("of bin %d of the Facebook mix", m.Bin)
	}
	users := "one user"
	if m.Users > 1 {
		users = fmt.Sprintf("%d users", m.Users)
	}
	return fmt.Sprintf("MR jobs: %s %s, exponential(%g s) apart, of %s", amount(m.Jobs, m.Length), mix, m.Every.Seconds(), users)
}

func amount(jobs int, length time.Duration) string {
	if jobs > 0 {
		return fmt.Sprintf("%d jobs", jobs)
	}
	return job.FormatDuration(length)
}
