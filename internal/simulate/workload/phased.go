package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Amounts is the demand of a phase of a task.
type Amounts struct {
	CPU    float64 // core-seconds on a core of speed 1
	Disk   float64 // bytes read and written on its own node
	Net    float64 // bytes of map outputs that it fetches, including those of its own node
	Memory int64   // bytes at the peak
	// Cores is the largest number of cores on which a measured phase computes; 0 means 1. Least is
	// the shortest time that a measured phase lasts on any node, in seconds, for what the other
	// fields do not describe.
	Cores, Least float64
}

// The node on which tasks run at full speed by definition: models.md, "Phases that contend", the cluster of the
// paper.
const (
	FullDisk = 100e6 // bytes/s
	FullNet  = 125e6 // bytes/s
)

// Seconds returns how long the phase lasts alone on a node with the given speed of cores and rates
// of disk and network. It computes, reads and writes at the same time.
func (a Amounts) Seconds(speed, disk, net float64) float64 {
	return max(a.CPU/(max(1, a.Cores)*speed), a.Disk/disk, a.Net/net, a.Least)
}

// Full returns how long the phase lasts at full speed.
func (a Amounts) Full() float64 { return a.Seconds(1, FullDisk, FullNet) }

// Phased is the demands of the tasks of an elastic job, phase by phase.
type Phased struct {
	Maps    [][2]Amounts // map, merge
	Reduces [][3]Amounts // shuffle, sort, reduce
	Splits  []float64    // size of each split, which is part of the disk bytes of the phase map
	Homes   [][]int      // nodes that have each map's split
	Served  float64      // fraction of fetched bytes that are read from the disks of the nodes that made them
	Demands []job.PhaseDemand
	// Outs, Merges, MapBuffer and ReduceBuffer describe the effect of granted memory, see Granted: the
	// bytes of each map's output, its merge if the output does not fit, and the part of the memory of
	// maps and of sorts that is the buffer without a grant. nil and 0 mean unknown.
	Outs                    []float64
	Merges                  []Amounts
	MapBuffer, ReduceBuffer int64
}

// Granted returns the demand a of a phase of a task if grant bytes are granted for sorting and
// merging. 0 means the task's own buffer. A map whose output fits has one spill and nothing to
// merge. A reduce writes the part of its input that does not fit the grant, and its sort is
// proportional to that part. earlier is the grant of the phase map, for merge.
func (f *Phased) Granted(task int, phase job.Phase, a Amounts, grant, earlier int64) Amounts {
	switch {
	case phase == job.PhaseMap && grant > 0 && f.Outs != nil:
		a.Memory = max(0, a.Memory-f.MapBuffer) + int64(min(float64(grant), f.Outs[task]))
	case phase == job.PhaseMerge && earlier > 0 && f.Outs != nil:
		if f.Outs[task] <= float64(earlier) {
			return Amounts{Memory: a.Memory}
		}
		return f.Merges[task]
	case phase == job.PhaseSort && grant > 0:
		bytes := f.Reduces[task-len(f.Maps)][0].Net
		if bytes <= 0 {
			break
		}
		used := min(float64(grant), bytes)
		out := 1 - used/bytes
		a.CPU, a.Disk, a.Least = a.CPU*out, a.Disk*out, a.Least*out
		if f.ReduceBuffer > 0 {
			a.Memory = max(0, a.Memory-f.ReduceBuffer) + int64(used)
		}
	}
	return a
}

// PhasedBatch describes jobs that are submitted at once, and the number of nodes.
type PhasedBatch struct {
	Jobs, Nodes int
	App         string // of all jobs; empty: drawn for each job
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
func PhasedJobs(b PhasedBatch, seed uint64) []Elastic {
	jobs := make([]Elastic, b.Jobs)
	for i := range jobs {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		p := &profiles[rng.IntN(len(profiles))]
		if b.App != "" {
			p = &profiles[slices.IndexFunc(profiles, func(q profile) bool { return q.name == b.App })]
		}
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
func (p *profile) job(rng *rand.Rand, bytes float64, b PhasedBatch) Elastic {
	f := &Phased{Served: readBack, MapBuffer: sortMemory, ReduceBuffer: shuffleBuffer}
	e := Elastic{App: p.name, Phased: f}
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
	f.demand(p.mapAmounts(bytes/float64(len(f.Maps))), p.reduceAmounts(out/float64(reduces)))
	return e
}

// Peaks returns the largest memory demand of a phase of a map, and of a reduce.
func (f *Phased) Peaks() (maps, reduces int64) {
	for _, d := range f.Demands {
		if d.Phase <= job.PhaseMerge {
			maps = max(maps, d.Demand.Memory)
		} else {
			reduces = max(reduces, d.Demand.Memory)
		}
	}
	return maps, reduces
}

// demand sets the demand that schedulers know: that of the mean task.
func (f *Phased) demand(m [2]Amounts, r [3]Amounts) {
	phases := mapReducePhases()
	for i, a := range append(m[:], r[:]...) {
		d := job.PhaseDemand{Phase: phases[i], Seconds: a.Full()}
		d.Demand.Memory = a.Memory
		if d.Seconds > 0 {
			d.Demand.CPU = int64(math.Round(a.CPU / d.Seconds * job.MilliCore))
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
