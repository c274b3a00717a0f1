package loads

import (
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

// Peaks returns the largest memory demand of a phase of a map, and of a reduce.
func (f *Phased) Peaks() (maps, reduces int64) {
	for _, d := range f.Demands {
		if d.Phase.Kind() == job.MapTask {
			maps = max(maps, d.Demand.Memory)
		} else {
			reduces = max(reduces, d.Demand.Memory)
		}
	}
	return maps, reduces
}
