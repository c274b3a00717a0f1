package sched

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Speeds learns the speed of the cores of each kind of node relative to other kinds. Attempts of one phase of one job
// compute the same wherever they run, so the processor time for each byte of their input is the inverse of the speed
// (docs/models.md, Phase-level scheduling). Processor time does not depend on what else the node runs. The zero value
// knows no kind.
type Speeds struct {
	kinds   []nodeKind // the kind of the first node is the reference
	fastest float64    // speed of the fastest kind
}

// nodeKind is a kind of node and the logarithm of its speed relative to the first kind, as a weighted mean over jobs.
type nodeKind struct {
	name        string
	sum, weight float64
}

// pace is what attempts of one phase of a job took on one kind of node.
type pace struct {
	count int
	mean  float64 // mean logarithm of CPU seconds for each byte of input
}

const (
	// leastCPU is the minimum processor time of a phase that is used as a measurement.
	leastCPU = 10 * time.Millisecond
	// doubt is the number of attempts on each of two kinds with which half of the measured difference is used.
	doubt = 2
)

// Kind returns the number of the kind of node of that name, and adds a new kind if it is unknown.
func (s *Speeds) Kind(name string) int {
	i := slices.IndexFunc(s.kinds, func(k nodeKind) bool { return k.name == name })
	if i < 0 {
		i = len(s.kinds)
		s.kinds = append(s.kinds, nodeKind{name: name})
		s.rate()
	}
	return i
}

// Of returns the speed of a kind of node relative to the fastest kind, above 0 and at most 1.
func (s *Speeds) Of(kind int) float64 {
	if len(s.kinds) < 2 {
		return 1
	}
	return s.kinds[kind].speed() / s.fastest
}

func (k *nodeKind) speed() float64 { return math.Exp(k.sum / (k.weight + doubt)) }

func (s *Speeds) rate() {
	s.fastest = 0
	for i := range s.kinds {
		s.fastest = max(s.fastest, s.kinds[i].speed())
	}
}

// learn adds the phases of an attempt of the job that was done on a node of that kind. It costs nothing while there is
// only one kind.
func (s *Speeds) learn(kind int, j *Job, stats []job.PhaseStat) {
	if len(s.kinds) < 2 {
		return
	}
	for i := range stats {
		p := &stats[i]
		if p.CPU < leastCPU || int(p.Phase) >= len(j.paces) {
			continue
		}
		of := &j.paces[p.Phase]
		for len(*of) < len(s.kinds) {
			*of = append(*of, pace{})
		}
		s.count(*of, kind, -1)
		a := &(*of)[kind]
		a.count++
		a.mean += (math.Log(p.CPU.Seconds()/float64(max(1, p.BytesIn))) - a.mean) / float64(a.count)
		s.count(*of, kind, +1)
	}
	s.rate()
}

// count adds (sign 1) or subtracts (sign −1) what a phase of a job shows about the speeds: only of that kind, or of all
// kinds if it is the first. For n and m attempts the difference of the means has the weight nm/(n+m), the inverse of
// its variance up to a factor.
func (s *Speeds) count(of []pace, kind, sign int) {
	first := of[0]
	for i := 1; i < len(of); i++ {
		if kind != 0 && i != kind || of[i].count == 0 || first.count == 0 {
			continue
		}
		weight := float64(sign*of[i].count*first.count) / float64(of[i].count+first.count)
		s.kinds[i].weight += weight
		s.kinds[i].sum += float64(weight * (first.mean - of[i].mean))
	}
}
