package job

import "time"

// TaskKind is the kind of a task. It decides which phases the task has.
type TaskKind uint8

const (
	// BagTask runs one command of a bag.
	BagTask TaskKind = iota
	// MapTask runs the mapper over one split.
	MapTask
	// ReduceTask runs the reducer over one partition.
	ReduceTask
)

// String returns "task", "map" or "reduce".
func (k TaskKind) String() string { return [...]string{"task", "map", "reduce"}[k] }

// Phases returns the phases of a task of this kind, in order
// (models.md, "Demands of phases"; paper phase-level-scheduling, section 2).
func (k TaskKind) Phases() []Phase {
	switch k {
	case MapTask:
		return []Phase{PhaseMap, PhaseMerge}
	case ReduceTask:
		return []Phase{PhaseShuffle, PhaseSort, PhaseReduce}
	default:
		return []Phase{PhaseFetch, PhaseCompute, PhaseStore}
	}
}

// Last returns the last phase of tasks of this kind.
func (k TaskKind) Last() Phase { return [...]Phase{PhaseStore, PhaseMerge, PhaseReduce}[k] }

// Phase is a part of an attempt with a demand for resources of its own.
// An attempt needs a grant for every phase.
type Phase uint8

// The phases of bag, map and reduce tasks.
const (
	PhaseNone    Phase = iota
	PhaseFetch         // bag: the task's folder and input are prepared
	PhaseCompute       // bag: the command runs
	PhaseStore         // bag: the output is moved to its final name
	PhaseMap           // map: the mapper reads its split; full buffers are sorted and spilled
	PhaseMerge         // map: the spills are merged into one map output
	PhaseShuffle       // reduce: the partition's segments are fetched from the map outputs
	PhaseSort          // reduce: segments are merged until one merge pass remains
	PhaseReduce        // reduce: the last merge pass feeds the reducer, which writes the output
)

var phaseNames = [...]string{"none", "fetch", "compute", "store", "map", "merge", "shuffle", "sort", "reduce"}

// String returns the phase's name in lower case.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

// PhaseStat holds the measurements of one phase of one attempt.
type PhaseStat struct {
	Phase      Phase         `msgpack:"p" json:"-"`
	Start      Time          `msgpack:"s" json:"start_ns"`
	End        Time          `msgpack:"e" json:"end_ns"`
	BytesIn    int64         `msgpack:"bi,omitempty" json:"bytes_in"`
	BytesOut   int64         `msgpack:"bo,omitempty" json:"bytes_out"`
	RecordsIn  int64         `msgpack:"ri,omitempty" json:"records_in"`
	RecordsOut int64         `msgpack:"ro,omitempty" json:"records_out"`
	CPU        time.Duration `msgpack:"c,omitempty" json:"cpu_ns"`         // user and system time of the phase's threads and processes
	PeakMemory int64         `msgpack:"m,omitempty" json:"peak_mem_bytes"` // bytes
	DiskBytes  int64         `msgpack:"d,omitempty" json:"disk_bytes"`     // read from disks, not from the page cache, and written to files, by programs and by berth
	NetBytes   int64         `msgpack:"n,omitempty" json:"net_bytes"`      // map outputs fetched from other nodes; traffic of the programs themselves is not measured
	Waited     time.Duration `msgpack:"w,omitempty" json:"waited_ns"`      // time in which it had nothing to do, as a shuffle that waits for maps, or its programs had no processor
	Joules     float64       `msgpack:"j,omitempty" json:"joules"`         // its share of the energy of the node's processors; 0: not measured
	Missing    ResourceSet   `msgpack:"x,omitempty" json:"-"`              // resources whose use could not be measured on that machine
}

// Duration returns End − Start.
func (s PhaseStat) Duration() time.Duration { return s.End.Sub(s.Start) }

// Busy returns Duration − Waited, at least 0.
func (s PhaseStat) Busy() time.Duration { return max(s.Duration()-s.Waited, 0) }
