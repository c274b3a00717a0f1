package rent

import (
	"math"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// Watch collects from the records of a run which attempts run on its machines and how long tasks take on each type.
// It identifies machines by the ids of their nodes.
type Watch struct {
	Phases []job.Phase // whose durations add up to the time of a task

	on    map[job.Attempt]job.NodeID // running attempts
	runs  map[job.NodeID]int         // their number on each node
	times []predict.Sketch           // by type
	moved float64                    // bytes, of finished tasks
}

// NewWatch returns a Watch without records.
func NewWatch(phases ...job.Phase) *Watch {
	return &Watch{Phases: phases, on: make(map[job.Attempt]job.NodeID), runs: make(map[job.NodeID]int)}
}

// Observe adds a record. kind returns the type of a node's machine, −1 for a node of none of the types.
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

// learn adds a finished task of a type.
func (w *Watch) learn(kind int, stats []job.PhaseStat) {
	for len(w.times) <= kind {
		w.times = append(w.times, predict.Sketch{})
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
	w.times[kind].Add(seconds)
}

// Moved returns how many bytes finished tasks have moved to and from the data server.
func (w *Watch) Moved() float64 { return w.moved }

// Running returns how many tasks run on a node.
func (w *Watch) Running(node job.NodeID) int { return w.runs[node] }

// usual is the assumed ratio of standard deviation to mean of task times where too few tasks are measured.
const usual = 0.3

// Spread returns the standard deviation of task times divided by their mean, of the type with the most finished
// tasks.
func (w *Watch) Spread() float64 {
	var most predict.Sketch
	for _, a := range w.times {
		if a.Count > most.Count {
			most = a
		}
	}
	if most.Count < known || most.Mean() <= 0 {
		return usual
	}
	n := float64(most.Count)
	return most.StdDev() * math.Sqrt(n/(n-1)) / most.Mean()
}

// Task returns the expected time of a task on a type in seconds, from the planned time (0: none) and the measured
// ones; 0 if nothing is known.
func (w *Watch) Task(kind int, planned float64) float64 {
	if kind >= len(w.times) || w.times[kind].Count == 0 {
		return planned
	}
	a := &w.times[kind]
	if planned == 0 {
		return a.Mean()
	}
	return Mean(planned, a.Mean(), int(a.Count))
}
