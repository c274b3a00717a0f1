// Package timeline keeps the number of free nodes as a step function of time. It reserves nodes,
// finds the earliest instant at which a request fits, and lists the free slots (docs/models.md).
//
// It belongs to the pure core and knows nothing of nodes, partitions or queues: package cluster
// makes a timeline from a snapshot of them, and sim/batch keeps one for its reservations.
package timeline
