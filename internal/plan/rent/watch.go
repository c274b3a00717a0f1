package rent

import (
	"math"

	"berth/internal/event"
	"berth/internal/job"
)

// Watch is what the records of a run tell of its machines: what runs where, and how long tasks take on each type. It knows machines by
// the ids of their nodes.
type Watch struct {
	Phases []job.Phase // that count as the time of a task

	on    map[job.Attempt]job.NodeID // attempts that run
	runs  map[job.NodeID]int         // how many on each node
	times []average                  // by type
	moved float64                    // bytes, of tasks that are done
}

// average is of so many values.
type average struct {
	count       int
	sum, square float64
}

func (a *average) add(v float64) {
	a.count++
	a.sum += v
	a.square += v * v
}

func (a *average) mean() float64 { return a.sum / math.Max(1, float64(a.count)) }

// NewWatch returns the watch of a run that has no record yet.
func NewWatch(phases ...job.Phase) *Watch {
	return &Watch{Phases: phases, on: make(map[job.Attempt]job.NodeID), runs: make(map[job.NodeID]int)}
}

// Observe takes in a record. kind returns the type of a node's machine, −1 for a node that is none of them.
func (w *Watch) Observe(r event.Record, kind func(job.NodeID) int) {
	switch r := r.(type) {
	case event.AttemptStarted:
		if kind(r.Node) >= 0 {
			w.on[r.Attempt] = r.Node
			w.runs[r.Node]++
		}
	case event.AttemptEnded:
		node, known := w.on[r.Attempt]
		if !known {
			return
		}
		delete(w.on, r.Attempt)
		if w.runs[node]--; w.runs[node] == 0 {
			delete(w.runs, node)
		}
		if k := kind(node); k >= 0 && r.Outcome == event.Done {
			w.learn(k, r.Stats)
		}
	}
}

// learn takes in a task that is done on a type.
func (w *Watch) learn(kind int, stats []job.PhaseStat) {
	for len(w.times) <= kind {
		w.times = append(w.times, average{})
	}
	seconds := 0.0
	for _, s := range stats {
		if s.Phase == job.PhaseFetch || s.Phase == job.PhaseStore {
			w.moved += float64(s.NetBytes)
		}
	}
	for _, s := range stats {
		for _, p := range w.Phases {
			if s.Phase == p {
				seconds += s.Duration().Seconds()
			}
		}
	}
	w.times[kind].add(seconds)
}

// Moved returns how many bytes tasks that are done have moved to and from the data server.
func (w *Watch) Moved() float64 { return w.moved }

// Running returns how many tasks run on a node.
func (w *Watch) Running(node job.NodeID) int { return w.runs[node] }

// usual is the standard deviation of task times over their mean where too few have shown it.
const usual = 0.3

// Spread returns the standard deviation of task times over their mean, of the type that has done most tasks.
func (w *Watch) Spread() float64 {
	most := average{}
	for _, a := range w.times {
		if a.count > most.count {
			most = a
		}
	}
	if most.count < known || most.mean() <= 0 {
		return usual
	}
	n := float64(most.count)
	variance := math.Max(0, (most.square-n*most.mean()*most.mean())/(n-1))
	return math.Sqrt(variance) / most.mean()
}

// Task returns how long a task is expected to take on a type, by what was planned (0: nothing) and what was measured; 0: nothing is known.
func (w *Watch) Task(kind int, planned float64) float64 {
	if kind >= len(w.times) || w.times[kind].count == 0 {
		return planned
	}
	a := &w.times[kind]
	if planned == 0 {
		return a.mean()
	}
	return Mean(planned, a.mean(), a.count)
}
