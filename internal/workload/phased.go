package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/job"
)

// Amounts is what a phase of a task uses up.
type Amounts struct {
	CPU    float64 // core-seconds on a core of speed 1
	Disk   float64 // bytes read and written on its own node
	Net    float64 // bytes of map outputs that it fetches, from wherever they are
	Memory int64   // bytes at the peak
	// Of phases that were measured: how many cores it computes on at most, 0 is 1; and how many seconds it lasts at least on
	// any node, for what is none of these.
	Cores, Least float64
}

// The node on which tasks are said to run at full speed: models.md, section 1, the cluster of the paper.
const (
	FullDisk = 100e6 // bytes/s
	FullNet  = 125e6 // bytes/s
)

// Seconds returns how long the phase lasts alone on a node of that speed of cores and those rates of disk and
// network: it computes, and reads and writes meanwhile.
func (a Amounts) Seconds(speed, disk, net float64) float64 {
	return max(a.CPU/(max(1, a.Cores)*speed), a.Disk/disk, a.Net/net, a.Least)
}

// Full returns how long the phase lasts at full speed.
func (a Amounts) Full() float64 { return a.Seconds(1, FullDisk, FullNet) }

// Phased is what the tasks of an elastic job take phase by phase.
type Phased struct {
	Maps    [][2]Amounts // map, merge
	Reduces [][3]Amounts // shuffle, sort, reduce
	Splits  []float64    // bytes of the disk of the phase map that are the split's
	Homes   [][]int      // nodes that have each map's split
	Served  float64      // share of fetched bytes that are read from the disks of the nodes that made them
	Demands []job.PhaseDemand
	// What a grant of memory changes, see Granted: bytes of each map's output, its merge where that does not fit, and how much of
	// the memory of maps and of sorts is the buffer that they have without a grant. nil and 0: not known.
	Outs                    []float64
	Merges                  []Amounts
	MapBuffer, ReduceBuffer int64
}

// Granted returns what a phase of a task takes with so much memory to sort and merge in; 0: its own share, as said. A map
// whose output fits has one spill and nothing to merge. Of what a reduce sorts the part that does not fit
// is written, and work is in proportion to it. earlier is the grant of the phase map, for merge.
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

// PhasedBatch says what jobs are submitted at once, on how many nodes.
type PhasedBatch struct {
	Jobs, Nodes int
	App         string // of all; empty: drawn for each job
	// Bytes of input of all; 0: drawn for each job, log-uniform between leastInput and mostInput.
	Bytes float64
}

const (
	leastInput = 0.5 * gb
	mostInput  = 5 * gb

	replicas = 3 // of each split

	// skew is the standard deviation of the logarithm of what the tasks of a job differ by: maps in what they compute,
	// reduces in how much comes to them.
	skew = 0.2
)

// PhasedJobs draws jobs. A job's tasks depend on its number and the seed alone.
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

// Peaks returns the most memory that a phase of a map takes, and of a reduce.
func (f *Phased) Peaks() (maps, reduces int64) {
	for _, d := range f.Demands {
		if d.Phase <= job.PhaseMerge {
			maps = max(maps, d.Takes.Memory)
		} else {
			reduces = max(reduces, d.Takes.Memory)
		}
	}
	return maps, reduces
}

// demand sets what the job is known to take: what its mean tasks do.
func (f *Phased) demand(m [2]Amounts, r [3]Amounts) {
	phases := mapReducePhases()
	for i, a := range append(m[:], r[:]...) {
		d := job.PhaseDemand{Phase: phases[i], Seconds: a.Full()}
		d.Takes.Memory = a.Memory
		if d.Seconds > 0 {
			d.Takes.CPU = int64(math.Round(a.CPU / d.Seconds * job.MilliCore))
			d.Takes.Disk, d.Takes.Net = int64(a.Disk/d.Seconds), int64(a.Net/d.Seconds)
		}
		f.Demands = append(f.Demands, d)
	}
}

// lognormal draws a factor of mean 1.
func lognormal(rng *rand.Rand) float64 { return math.Exp(skew*rng.NormFloat64() - skew*skew/2) }

// parts draws the shares of so many reduces.
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

// lasting returns how long phases last at full speed, one after the other.
func lasting(phases []Amounts) time.Duration {
	sum := 0.0
	for _, a := range phases {
		sum += a.Full()
	}
	return max(duration(sum), time.Millisecond)
}
