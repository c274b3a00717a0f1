package loads

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// PhasedBatch describes jobs that are submitted at once, and the number of nodes.
type PhasedBatch struct {
	Jobs, Nodes int
	Apps        []string // of which each job's is drawn; nil: of all
	// Bytes is the size of each job's input; 0: drawn for each job, log-uniform between leastInput
	// and mostInput.
	Bytes float64
}

const (
	leastInput = 0.5 * gb
	mostInput  = 5 * gb

	replicas = 3 // of each split

	// skew is the standard deviation of the logarithm of the differences between the tasks of a job:
	// the computing of maps, and the input of reduces.
	skew = 0.2
)

// PhasedJobs draws jobs. A job's tasks depend only on its number and the seed.
func PhasedJobs(b PhasedBatch, seed uint64) []Job {
	jobs := make([]Job, b.Jobs)
	among := slices.Clone(profiles)
	if b.Apps != nil {
		among = slices.DeleteFunc(among, func(p profile) bool { return !slices.Contains(b.Apps, p.name) })
	}
	for i := range jobs {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		p := &among[rng.IntN(len(among))]
		bytes := leastInput * math.Pow(mostInput/leastInput, rng.Float64())
		if b.Bytes > 0 {
			bytes = b.Bytes
		}
		jobs[i] = p.job(rng, bytes, b)
		jobs[i].ID = int64(i + 1)
	}
	return jobs
}

// job draws the tasks of a job.
func (p *profile) job(rng *rand.Rand, bytes float64, b PhasedBatch) Job {
	f := &Phased{Served: readBack, MapBuffer: sortMemory, ReduceBuffer: shuffleBuffer}
	e := Job{Elastic: workload.Elastic{App: p.name}, Phased: f}
	for left := bytes; left >= 1; left -= splitBytes {
		split := min(left, splitBytes)
		a := p.mapAmounts(split)
		a[0].CPU = startCPU + float64((a[0].CPU-startCPU)*lognormal(rng))
		f.Maps, f.Splits, f.Homes = append(f.Maps, a), append(f.Splits, split), append(f.Homes, homes(rng, b.Nodes))
		f.Outs, f.Merges = append(f.Outs, split*p.keepMap), append(f.Merges, p.merge(split*p.keepMap))
		e.Maps = append(e.Maps, lasting(a[:]))
	}
	out := bytes * p.keepMap
	reduces := max(1, int(math.Ceil(out/partBytes)))
	for _, share := range parts(rng, reduces) {
		a := p.reduceAmounts(out * share)
		f.Reduces = append(f.Reduces, a)
		e.Reduces = append(e.Reduces, lasting(a[1:]))
	}
	setDemand(f, p.mapAmounts(bytes/float64(len(f.Maps))), p.reduceAmounts(out/float64(reduces)))
	return e
}

// setDemand sets the demand that schedulers know: that of the mean task.
func setDemand(f *Phased, m [2]Amounts, r [3]Amounts) {
	phases := mapReducePhases()
	for i, a := range append(m[:], r[:]...) {
		d := job.PhaseDemand{Phase: phases[i], Seconds: a.Full()}
		d.Demand.Memory = a.Memory
		if d.Seconds > 0 {
			d.Demand.CPU = int64(math.Round(a.CPU / d.Seconds * job.Milli))
			d.Demand.Disk, d.Demand.Net = int64(a.Disk/d.Seconds), int64(a.Net/d.Seconds)
		}
		f.Demands = append(f.Demands, d)
	}
}

// lognormal draws a factor with mean 1.
func lognormal(rng *rand.Rand) float64 { return math.Exp(skew*rng.NormFloat64() - skew*skew/2) }

// parts draws the fractions of the input of n reduces.
func parts(rng *rand.Rand, n int) []float64 {
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		shares[i] = lognormal(rng)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// homes draws the nodes that have a split.
func homes(rng *rand.Rand, nodes int) []int { return rng.Perm(nodes)[:min(replicas, nodes)] }

// lasting returns the sum of the durations of phases at full speed.
func lasting(phases []Amounts) time.Duration {
	sum := 0.0
	for _, a := range phases {
		sum += a.Full()
	}
	return max(duration(sum), time.Millisecond)
}

// duration rounds seconds to milliseconds.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1000)) * time.Millisecond
}
