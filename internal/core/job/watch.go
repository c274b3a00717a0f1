package job

import (
	"cmp"
	"strings"
)

// Watch says what berth may do about stragglers of a job.
type Watch struct {
	Stragglers Stragglers `msgpack:"sg,omitempty"`
	// Speculation is the largest processor time of duplicates that lost, as a fraction of the job's; 0: defaultSpeculation.
	Speculation float64 `msgpack:"sp,omitempty"`
	// Duplicates and ReduceDuplicates say that two attempts of a bag or map task, or of a reduce, may run at the same time.
	Duplicates       bool `msgpack:"du,omitempty"`
	ReduceDuplicates bool `msgpack:"rdu,omitempty"`
}

// Stragglers is the action on stragglers, tasks that are clearly slower than others.
type Stragglers string

// The actions on stragglers.
const (
	StragglersAuto      Stragglers = ""          // Duplicate while cores are idle, else Abort if that is predicted to save time; only if the job allows duplicates
	StragglersDuplicate Stragglers = "duplicate" // a second attempt begins on another node, and the first that finishes wins
	StragglersAbort     Stragglers = "abort"     // the attempt is killed, and its task begins again on another node
	StragglersTell      Stragglers = "tell"      // the user is told, nothing else is done
	StragglersOff       Stragglers = "off"       // stragglers are not looked for
)

// defaultSpeculation is the default of Watch.Speculation.
const defaultSpeculation = 0.05

// MayDuplicate reports whether a task of the kind may be duplicated.
func (w *Watch) MayDuplicate(kind TaskKind) bool {
	if w.Stragglers != StragglersAuto && w.Stragglers != StragglersDuplicate {
		return false
	}
	if kind == ReduceTask {
		return w.ReduceDuplicates
	}
	return w.Duplicates
}

// MayAbort reports whether an attempt of a task of the kind may be killed because it is too slow. That is so if the user chose it,
// or if the task may be duplicated: then an attempt that is killed leaves nothing behind.
func (w *Watch) MayAbort(kind TaskKind) bool {
	return w.Stragglers == StragglersAbort || w.Stragglers == StragglersAuto && w.MayDuplicate(kind)
}

// SpeculationShare returns Speculation or its default.
func (w *Watch) SpeculationShare() float64 { return cmp.Or(w.Speculation, defaultSpeculation) }

// watch returns what the spec says about stragglers. A task may be duplicated if only one attempt commits all of its output. That holds for MapReduce,
// unless the job turns it off with Hadoop's keys, and for a bag whose user says so or declares its outputs. Tasks that start again where they
// ended may share a file with their state, so for them the user must say so.
func (s *Spec) watch() Watch {
	w := Watch{Stragglers: s.Request.Stragglers, Speculation: s.Request.Speculation}
	if m := s.MapReduce; m != nil {
		w.Duplicates, w.ReduceDuplicates = !strings.EqualFold(m.Conf["mapreduce.map.speculative"], "false"), !strings.EqualFold(m.Conf["mapreduce.reduce.speculative"], "false")
	} else {
		w.Duplicates = s.Bag.DuplicatesOK || s.Bag.SaysOutputs() && s.Bag.RequeueExit == 0
	}
	return w
}
