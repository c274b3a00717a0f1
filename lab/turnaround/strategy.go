package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"berth/internal/simulate/sim"
)

// strategy is a way to choose nodes and wall time. The same berth runs all strategies, so that only
// the choice differs. If the time is too short, the same request is made again.
type strategy struct {
	name  string
	about string
	shape func(s *situation) shape // nil: berth's own choice, or direct
	among sim.Among                // of the partitions that the user lists; empty: the default one
	// direct is for requests without berth, whose nodes run no berth either.
	direct func(ctx context.Context, p *site, s *situation) (requests, error)
}

// shape is one request for nodes.
type shape struct{ nodes, minutes int }

func (s shape) String() string { return fmt.Sprintf("%dn × %d min", s.nodes, s.minutes) }

const ours = "berth"

var strategies = []strategy{
	{name: ours, about: "berth's choice"},
	{name: "a", about: "the whole cluster for the maximum time",
		shape: func(s *situation) shape { return shape{s.maxNodes(), s.maxMinutes()} }},
	{name: "b", about: "one node for the maximum time",
		shape: func(s *situation) shape { return shape{1, s.maxMinutes()} }},
	{name: "c", about: "as many nodes as maps or reduces, whichever are more, for the maximum time",
		shape: func(s *situation) shape {
			return shape{min(s.maxNodes(), max(s.job.tasks(), s.job.reduces)), s.maxMinutes()}
		}},
	{name: "d", about: "as many nodes as tasks for 1.5 times the longest task",
		shape: func(s *situation) shape {
			return shape{min(s.maxNodes(), s.job.tasks()+s.job.reduces), min(s.maxMinutes(), wholeMinutes(1.5*s.job.longest()))}
		}},
	{name: "N×1", about: "as many requests of one node as c has nodes, without berth",
		direct: func(_ context.Context, _ *site, s *situation) (requests, error) { return narrow(s), nil }},
	{name: "torc", about: "c or N×1, whichever starts first by sbatch --test-only, without berth", direct: byTestOnly},
}

// inPartitions are the habits of users who know all partitions of a situation; only the simulator has them.
var inPartitions = []strategy{
	{name: "c,", about: "c for the shortest limit of the partitions, as sbatch -p with all of them", among: sim.AmongAll, shape: manyNodes},
	{name: "c?", about: "the same, in the partition where it starts first by sbatch --test-only", among: sim.AmongSoonest, shape: manyNodes},
	{name: "d,", about: "d with the fewest nodes of the partitions, as sbatch -p with all of them", among: sim.AmongAll, shape: leastTime},
	{name: "d?", about: "the same, in the partition where it starts first by sbatch --test-only", among: sim.AmongSoonest, shape: leastTime},
}

// manyNodes and leastTime are the habits c and d with limits that fit all partitions: c in time, d in nodes.
func manyNodes(s *situation) shape {
	_, minutes := s.least()
	return shape{min(s.maxNodes(), max(s.job.tasks(), s.job.reduces)), minutes}
}

func leastTime(s *situation) shape {
	nodes, minutes := s.least()
	return shape{min(nodes, s.job.tasks()+s.job.reduces), min(minutes, wholeMinutes(1.5*s.job.longest()))}
}

// wholeMinutes rounds up seconds, as Slurm does.
func wholeMinutes(s float64) int { return int(math.Ceil(s / 60)) }

// flags returns berth's flags in addition to the job.
func (st *strategy) flags(sys *system, s *situation) []string {
	flags := []string{"--on", sys.name}
	if s.short {
		flags = append(flags, "--partition", sys.short)
	}
	if st.shape == nil {
		return flags
	}
	return append(flags, forced(st.shape(s))...)
}

// forced returns the flags that fix the whole request. Nodes are whole, because a user who counts
// nodes means whole nodes.
func forced(s shape) []string {
	n := strconv.Itoa(s.nodes)
	return []string{"--nodes", n + "-" + n, "--time", strconv.Itoa(s.minutes), "--wall-time", "max", "--max-allocs", "1", "--no-scout", "--exclusive"}
}

// request describes the strategy's request; empty for berth's own choice.
func (st *strategy) request(s *situation) string {
	if st.shape == nil {
		return ""
	}
	if s.parts != nil && st.among != "" {
		return st.shape(s).String() + " in " + string(st.among) + " of " + s.listed()
	}
	return st.shape(s).String()
}

// unknowing reports whether berth has no profile of the application. A strategy with a fixed request
// always has one, because without a profile berth would reduce the request.
func (st *strategy) unknowing(s *situation) bool { return s.fresh && st.shape == nil }
