package main

import (
	"fmt"
	"math"
	"strconv"
)

// strategy is a way to choose nodes and wall time. All run by the same berth, so that
// nothing but the choice differs; one whose time ends too soon asks again for the same.
type strategy struct {
	name  string
	about string
	shape func(s *situation) shape // nil: berth's own choice
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
}

// wholeMinutes rounds up seconds, as Slurm does.
func wholeMinutes(s float64) int { return int(math.Ceil(s / 60)) }

// flags returns what berth is told beside the job.
func (st *strategy) flags(s *situation) []string {
	flags := []string{"--on", "slurm"}
	if s.short {
		flags = append(flags, "--partition", "short")
	}
	if st.shape == nil {
		return flags
	}
	return append(flags, forced(st.shape(s))...)
}

// forced returns the flags that leave berth nothing to choose. Nodes are whole ones, as a
// user who counts nodes means it.
func forced(s shape) []string {
	n := strconv.Itoa(s.nodes)
	return []string{"--nodes", n + "-" + n, "--time", strconv.Itoa(s.minutes), "--wall-time", "max", "--max-allocs", "1", "--no-scout", "--exclusive"}
}

// request returns what the strategy asks for; empty for berth's own choice.
func (st *strategy) request(s *situation) string {
	if st.shape == nil {
		return ""
	}
	return st.shape(s).String()
}

// unknowing reports whether berth is not to know the application. It always does where it is
// forced: what it asks for must not be cut to what can be said of tasks that nothing is known of.
func (st *strategy) unknowing(s *situation) bool { return s.fresh && st.shape == nil }
