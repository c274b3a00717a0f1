package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// How long jobs run beside what they ask for, by the log of SDSC's SP2: usual are the deciles (5, 15, …, 95 %) of the medians of
// ratios of run time and limit of jobs of one user, size and limit, and around are those of a job's ratio beside that median.
var (
	usual  = [10]float64{0.007, 0.039, 0.072, 0.098, 0.134, 0.193, 0.329, 0.447, 0.665, 0.906}
	around = [10]float64{0.059, 0.467, 0.805, 0.941, 0.997, 1.006, 1.068, 1.265, 1.765, 4.831}
)

// What a drawn situation is made of. Each list is drawn from evenly, so a value that stands twice is drawn twice as often.
var (
	kindNodes   = []int{1, 1, 1, 2, 2, 3, 4, 6, 8}
	kindMinutes = []int{1, 2, 2, 3, 4, 5, 8, 10, 15}
	busyNodes   = []int{0, 4, 5, 6, 7, 8, 8, 8, 8, 8}
	drawnJobs   = []*workload{
		{name: "bag-144", draw: even(24, 4, 8)},
		{name: "bag-240", draw: even(60, 2, 6)},
		{name: "skew-170", draw: skewed(40, 3, 0.8, 25)},
		{name: "mr-180", draw: even(20, 4, 8), reduces: 6, reduceTo: 8},
	}
)

const (
	kinds      = 5   // applications of other users, each with a size, a limit and a usual run time
	longReal   = 240 // no job of others runs longer, in seconds
	longUsual  = 120 // nor usually longer than so
	leastReal  = 10  // of a job that runs when ours is submitted, in seconds
	pastJobs   = 40  // of the hour before
	freshShare = 8   // in one of so many situations berth has no profile
)

// kind is jobs of other users that are alike.
type kind struct {
	nodes, minutes int
	ratio          float64
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// drawKind draws one whose jobs are usually short enough for a situation of minutes.
func drawKind(r *rand.Rand) kind {
	for {
		k := kind{nodes: pick(r, kindNodes), minutes: pick(r, kindMinutes), ratio: pick(r, usual[:])}
		if k.ratio*float64(k.minutes)*60 <= longUsual {
			return k
		}
	}
}

// job draws a job of this kind that runs for at least so many seconds.
func (k kind) job(r *rand.Rand, least int) fill {
	limit := k.minutes * 60
	real := 0
	for range 20 {
		if real = int(math.Round(k.ratio * pick(r, around[:]) * float64(limit))); real >= least {
			break
		}
	}
	real = min(max(real, least, 1), longReal, limit-2)
	return fill{copies: 1, nodes: k.nodes, cpus: cpusPerNode, real: seconds(real), limit: seconds(limit)}
}

func (f fill) text() string {
	text := fmt.Sprintf("%dn %ss/%dm", f.nodes, f.sleep(), int(f.limit.Minutes()))
	if f.at > 0 {
		text += fmt.Sprintf(" @%ds", int(f.at.Seconds()))
	}
	return text
}

// partStream is the stream of random numbers by which partitions are drawn, so that the rest of a situation is that without them.
const partStream = 1 << 32

// drawn returns situations by a seed. Each has jobs of some kinds, by which they ran in the hour before, too. One of so many has two to four
// partitions; 0: none.
func drawn(seed uint64, n, parted int) []situation {
	all := make([]situation, n)
	for i := range all {
		s, of := drawSituation(fmt.Sprintf("d%d-%02d", seed, i+1), rand.New(rand.NewPCG(seed, uint64(i))))
		if parted > 0 && i%parted == 0 {
			r := rand.New(rand.NewPCG(seed, partStream+uint64(i)))
			s.parts, s.preemptible = partsOf(r, of), r.IntN(2) == 0
			s.about += fmt.Sprintf(", beside main %v", s.parts)
		}
		all[i] = s
	}
	return all
}

func drawSituation(name string, r *rand.Rand) (situation, []kind) {
	s := situation{name: name, about: "drawn", drawn: true, job: pick(r, drawnJobs), fresh: r.IntN(freshShare) == 0}
	var of []kind
	for range kinds {
		of = append(of, drawKind(r))
	}
	var running, waiting, later []string
	busy := pick(r, busyNodes)
	for range 20 {
		if k := pick(r, of); k.nodes <= busy {
			busy -= k.nodes
			running = append(running, k.job(r, leastReal).text())
		}
	}
	if len(running) > 0 {
		for range r.IntN(5) {
			waiting = append(waiting, pick(r, of).job(r, 1).text())
		}
	}
	at := 0
	for range r.IntN(5) {
		at += 5 + r.IntN(36)
		f := pick(r, of).job(r, 1)
		f.at = seconds(at)
		later = append(later, f.text())
	}
	for range pastJobs {
		s.past = append(s.past, pick(r, of).job(r, 1))
	}
	s.running, s.waiting, s.later = strings.Join(running, ", "), strings.Join(waiting, ", "), strings.Join(later, ", ")
	return s, of
}
