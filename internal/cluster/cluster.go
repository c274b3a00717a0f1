// Package cluster describes what a place has to offer: its nodes and what is free
// on them. It decides nothing and observes nothing; drivers make snapshots, plan
// reads them.
package cluster

import "berth/internal/job"

// Node is one machine of a cluster, or the share of it that one worker gets.
type Node struct {
	Name     string        `json:"name"`
	Capacity job.Resources `json:"capacity"`
	Free     job.Resources `json:"free"`
}

// Snapshot is what a driver saw at an instant.
type Snapshot struct {
	Driver string   `json:"driver"`
	At     job.Time `json:"at_ns"`
	Nodes  []Node   `json:"nodes"`
}

// Capacity returns the resources of all nodes together.
func (s Snapshot) Capacity() job.Resources {
	var sum job.Resources
	for _, n := range s.Nodes {
		sum = sum.Plus(n.Capacity)
	}
	return sum
}
