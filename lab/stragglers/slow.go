package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"time"
)

// episode is the time in which a node is slow: from some time after the first attempt of a task
// began there until the job has ended.
type episode struct {
	Task   int       `json:"task"`
	After  float64   `json:"after_s"`
	Factor int       `json:"factor"` // by which its tasks take longer
	Hog    bool      `json:"hog"`    // because other programs compute there; otherwise because of a smaller part of a core
	Node   string    `json:"node"`   // the node on which it occurred
	At     time.Time `json:"at"`     // when it occurred; zero: the task had ended before
}

// episodes draws different tasks whose nodes become slow, and the moments, which are in the first
// half of a task's time.
func episodes(seed string, slow, tasks int, length float64) (all []episode) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	for _, task := range rng.Perm(tasks)[:min(slow, tasks)] {
		all = append(all, episode{Task: task, After: rng.Float64() * length / 2, Factor: 2 + rng.IntN(3), Hog: rng.IntN(2) == 0})
	}
	return all
}

// slowDown makes the nodes slow whose episode begins.
func (g *groups) slowDown(v *view, all []episode) {
	for i := range all {
		e := &all[i]
		for _, r := range v.Running {
			if e.At.IsZero() && r.Task == e.Task && r.Attempt == 1 && r.Seconds >= e.After {
				e.Node, e.At = r.Node, time.Now()
				if err := g.slow(rank(r.Node), e.Factor, e.Hog); err != nil {
					fmt.Fprintln(os.Stderr, "stragglers: the speed of a node could not be changed:", err)
				}
			}
		}
	}
}

// slow makes tasks on a node take factor times as long from now on.
func (g *groups) slow(node, factor int, hog bool) error {
	if hog {
		return g.hog(node, factor-1)
	}
	return g.limit(node, 1/float64(factor))
}

// rank returns the number of the worker of a node: 3 for a1/3.
func rank(node string) int {
	n, err := strconv.Atoi(path.Base(node))
	if err != nil {
		return -1
	}
	return n
}

// changed reports whether a node became slow after an instant.
func changed(all []episode, node string, after time.Time) bool {
	for _, e := range all {
		if e.Node == node && e.At.After(after) {
			return true
		}
	}
	return false
}
