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

// episode is when a node becomes slow, until the job is over: some time after the first attempt of a task began there.
type episode struct {
	Task   int       `json:"task"`
	After  float64   `json:"after_s"`
	Factor int       `json:"factor"` // so many times as long do its tasks take
	Hog    bool      `json:"hog"`    // by others that compute there; else by a smaller part of a core
	Node   string    `json:"node"`   // that it came to be
	At     time.Time `json:"at"`     // when it did; zero: the task was over before
}

// episodes draws the tasks whose nodes become slow, all different, and when: at any moment of the first half of what a task takes.
func episodes(seed string, slow, tasks int, length float64) (all []episode) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	for _, task := range rng.Perm(tasks)[:min(slow, tasks)] {
		all = append(all, episode{Task: task, After: rng.Float64() * length / 2, Factor: 2 + rng.IntN(3), Hog: rng.IntN(2) == 0})
	}
	return all
}

// slowDown makes those nodes slow whose time has come.
func (g *groups) slowDown(v *view, all []episode) {
	for i := range all {
		e := &all[i]
		for _, r := range v.Running {
			if e.At.IsZero() && r.Task == e.Task && r.Attempt == 1 && r.Seconds >= e.After {
				e.Node, e.At = r.Node, time.Now()
				if err := g.slow(rank(r.Node), e.Factor, e.Hog); err != nil {
					fmt.Fprintln(os.Stderr, "stragglers: a node is not as it should be:", err)
				}
			}
		}
	}
}

// slow has tasks take so many times as long on a node from now on.
func (g *groups) slow(node, factor int, hog bool) error {
	if hog {
		return g.hog(node, factor-1)
	}
	return g.limit(node, 1/float64(factor))
}

// rank returns which of the workers a node is: 3 for a1/3.
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
