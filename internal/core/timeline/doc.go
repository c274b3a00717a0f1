// Package timeline keeps the number of free nodes as a step function of time. It reserves nodes,
// finds the earliest instant at which a request fits, and lists the free slots (docs/models.md):
//
//	t := timeline.New(now, 100)
//	t.Add(now, end, -40) // reserve 40 nodes until end
//	start, ok := t.EarliestFit(now, 80, time.Hour)
//
// The package belongs to the pure core and must not know about single nodes, partitions or queues.
// Package cluster makes a timeline from a snapshot, and sim/batch keeps one for its reservations.
package timeline
