package job

import (
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

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
func (k TaskKind) String() string { return kindNames[k] }

var kindNames = [...]string{"task", "map", "reduce"}

// Phases returns the phases of a task of this kind, in order
// (models.md, "Demands of phases"; paper phase-level-scheduling, section 2).
func (k TaskKind) Phases() []Phase { return phasesOf[k] }

// Last returns the last phase of tasks of this kind.
func (k TaskKind) Last() Phase { return phasesOf[k][len(phasesOf[k])-1] }

// phasesOf has the phases of each kind of task.
var phasesOf = func() (of [len(kindNames)][]Phase) {
	for p := PhaseNone + 1; p < NumPhases; p++ {
		of[p.Kind()] = append(of[p.Kind()], p)
	}
	for k := range of {
		of[k] = slices.Clip(of[k])
	}
	return of
}()

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

// EncodeMsgpack encodes a copy without an address: the fields of an element of a slice would each be copied to the heap to see whether it is empty.
func (s PhaseStat) EncodeMsgpack(e *msgpack.Encoder) error {
	type fields PhaseStat
	return e.Encode(fields(s))
}

// Duration returns End − Start.
func (s PhaseStat) Duration() time.Duration { return s.End.Sub(s.Start) }

// Busy returns Duration − Waited, at least 0.
func (s PhaseStat) Busy() time.Duration { return max(s.Duration()-s.Waited, 0) }
