package job

import "fmt"

// Phase is a part of an attempt with a demand for resources of its own. An attempt needs a grant for every phase.
// Phases are compared by rank: in the order of a task's phases, those of maps before those of reduces. Records and messages have
// the name of a phase and not its rank, so a phase can be added anywhere: by a constant and a row of the table.
type Phase uint8

// The phases of bag, map and reduce tasks, by rank.
const (
	PhaseNone    Phase = iota
	PhaseFetch         // the task's folder and input are prepared
	PhaseCompute       // the command runs
	PhaseStore         // the output is moved to its final name
	PhaseMap           // the mapper reads its split; full buffers are sorted and spilled
	PhaseMerge         // the spills are merged into one map output
	PhaseShuffle       // the partition's segments are fetched from the map outputs
	PhaseSort          // segments are merged until one merge pass remains
	PhaseReduce        // the last merge pass feeds the reducer, which writes the output
	NumPhases          // the number of phases, PhaseNone included
)

// phases has a row for each phase.
var phases = [NumPhases + 1]struct {
	name string
	kind TaskKind // the kind of task that has the phase
	main bool     // the task's program runs in it: the number of tasks that are done with it is that of the tasks that are done
	// Words for people: what an attempt waits for before the phase, and what attempts in it are called, in the singular.
	begin, in string
}{
	PhaseNone:    {name: "none"},
	PhaseFetch:   {"fetch", BagTask, false, "to fetch", "fetching task"},
	PhaseCompute: {"compute", BagTask, true, "to compute", "computing task"},
	PhaseStore:   {"store", BagTask, false, "to store", "storing task"},
	PhaseMap:     {"map", MapTask, true, "to begin", "map"},
	PhaseMerge:   {"merge", MapTask, false, "to merge", "merge"},
	PhaseShuffle: {"shuffle", ReduceTask, false, "to shuffle", "shuffle"},
	PhaseSort:    {"sort", ReduceTask, false, "to sort", "sort"},
	PhaseReduce:  {"reduce", ReduceTask, true, "to reduce", "reduce"},
	NumPhases:    {name: "unknown"},
}

// String returns the phase's name in lower case.
func (p Phase) String() string { return phases[min(p, NumPhases)].name }

// Check returns an error for a phase that does not exist.
func (p Phase) Check() error {
	if p >= NumPhases {
		return fmt.Errorf("unknown phase %d", p)
	}
	return nil
}

// Kind returns the kind of task that has the phase.
func (p Phase) Kind() TaskKind { return phases[min(p, NumPhases)].kind }

// Main reports whether the task's program runs in the phase. Each kind of task has one such phase.
func (p Phase) Main() bool { return phases[min(p, NumPhases)].main }

// Words returns what an attempt waits for before the phase, "to merge", and what an attempt in it is called, "merge".
func (p Phase) Words() (begin, in string) { return phases[p].begin, phases[p].in }

// PhaseNamed returns the phase with a name, or NumPhases if there is none.
func PhaseNamed(name string) Phase {
	p := PhaseNone
	for p < NumPhases && phases[p].name != name {
		p++
	}
	return p
}

// numbered are the phases by the numbers that they have in records of berth up to version 4 of the wire. It never changes.
var numbered = [...]Phase{PhaseNone, PhaseFetch, PhaseCompute, PhaseStore, PhaseMap, PhaseMerge, PhaseShuffle, PhaseSort, PhaseReduce}

// The first byte of a short string in MessagePack is shortString plus its length; numbers up to 127 are one byte.
const shortString = 0xa0

// MarshalMsgpack returns the phase's name as a string of MessagePack. The caller may not change it.
func (p Phase) MarshalMsgpack() ([]byte, error) { return packed[min(p, NumPhases)], nil }

// packed has the names of all phases as strings of MessagePack.
var packed = func() (all [NumPhases + 1][]byte) {
	for p := range all {
		all[p] = append([]byte{shortString | byte(len(phases[p].name))}, phases[p].name...)
	}
	return all
}()

// UnmarshalMsgpack reads a phase by its name or, in records of older versions, by its number.
func (p *Phase) UnmarshalMsgpack(b []byte) error {
	switch {
	case len(b) == 1 && int(b[0]) < len(numbered):
		*p = numbered[b[0]]
	case len(b) > 1 && b[0]&^0x1f == shortString:
		*p = PhaseNamed(string(b[1:]))
	default:
		return fmt.Errorf("%x is no phase", b)
	}
	if *p == NumPhases {
		return fmt.Errorf("unknown phase %q", b[1:])
	}
	return nil
}
