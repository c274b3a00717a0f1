package job

import "cmp"

// Watch is what may be done about tasks of a job that are clearly slower than others, as its spec says.
type Watch struct {
	Stragglers Stragglers `msgpack:"sg,omitempty"`
	// Speculation bounds the processor time that duplicates which lost may take, as a share of what the job takes; 0: DefaultSpeculation.
	Speculation float64 `msgpack:"sp,omitempty"`
	// Duplicates and ReduceDuplicates say that two attempts of a bag or map task, or of a reduce, may run at the same time.
	Duplicates       bool `msgpack:"du,omitempty"`
	ReduceDuplicates bool `msgpack:"rdu,omitempty"`
}

// Stragglers is what is done about tasks that are clearly slower than others.
type Stragglers string

// What may be done about slow tasks.
const (
	StragglersAuto      Stragglers = ""          // Duplicate while cores are idle, Abort when none are and it pays; only where duplicates do no harm
	StragglersDuplicate Stragglers = "duplicate" // a second attempt begins elsewhere, and the first to be done wins
	StragglersAbort     Stragglers = "abort"     // the attempt is killed, and its task begins again elsewhere
	StragglersTell      Stragglers = "tell"      // nothing, but it is told
	StragglersOff       Stragglers = "off"       // nobody looks
)

// DefaultSpeculation is the share of extra processor time that duplicates may take where the user says none.
const DefaultSpeculation = 0.05

// MayDuplicate reports whether a second attempt of a task of the kind may begin beside one that runs.
func (w *Watch) MayDuplicate(kind TaskKind) bool {
	if w.Stragglers != StragglersAuto && w.Stragglers != StragglersDuplicate {
		return false
	}
	if kind == ReduceTask {
		return w.ReduceDuplicates
	}
	return w.Duplicates
}

// MayAbort reports whether an attempt of a task of the kind may be killed because it is too slow. The user said so, or a second
// attempt could do no harm, so neither can the end of the first.
func (w *Watch) MayAbort(kind TaskKind) bool {
	return w.Stragglers == StragglersAbort || w.Stragglers == StragglersAuto && w.MayDuplicate(kind)
}

// SpeculationShare returns the bound on extra processor time.
func (w *Watch) SpeculationShare() float64 { return cmp.Or(w.Speculation, DefaultSpeculation) }

// watch returns what the spec says of slow tasks. Two attempts of one task do no harm where all that they leave behind is put into place at the
// end, by one of them: in MapReduce, unless the job says as to Hadoop that it does not want any, and where a bag says so.
func (s *Spec) watch() Watch {
	w := Watch{Stragglers: s.Request.Stragglers, Speculation: s.Request.Speculation}
	if m := s.MapReduce; m != nil {
		w.Duplicates, w.ReduceDuplicates = m.Conf["mapreduce.map.speculative"] != "false", m.Conf["mapreduce.reduce.speculative"] != "false"
	} else {
		w.Duplicates = s.Bag.DuplicatesOK || s.Bag.SaysOutputs()
	}
	return w
}

// valid reports whether it is one of those that exist.
func (s Stragglers) valid() bool {
	switch s {
	case StragglersAuto, StragglersDuplicate, StragglersAbort, StragglersTell, StragglersOff:
		return true
	}
	return false
}

// ParseStragglers returns what is to be done about slow tasks, by its name; auto is the default.
func ParseStragglers(name string) (Stragglers, bool) {
	if name == "auto" {
		return StragglersAuto, true
	}
	return Stragglers(name), name != "" && Stragglers(name).valid()
}
