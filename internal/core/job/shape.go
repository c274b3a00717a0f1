package job

import (
	"fmt"
	"time"
)

// Shape is the part of an allocation request that must be equal for two allocations to serve the same jobs.
type Shape struct {
	on      string
	scratch string
	batch   string // what is requested of a batch system (Batch.Key); empty on one machine

	// The following fields are set on one machine only, where jobs share an allocation of the same size.
	nodes      int
	perNode    Resources
	time       time.Duration // a job with a limit does not share an allocation without one
	sortMemory int64
	remote     string // the hosts (Remote.Key)
	only       string // the cores
}

// ShapeOf returns the shape of an allocation. The shape of a batch system's allocation does not include its size.
func ShapeOf(r AllocRequest) Shape {
	if r.Elastic {
		return Shape{on: r.On, scratch: r.Scratch, batch: r.Batch.Key()}
	}
	return Shape{on: r.On, nodes: r.Nodes, perNode: r.PerNode, time: r.Time, sortMemory: r.SortMemory, scratch: r.Scratch, remote: r.Remote.Key(), only: fmt.Sprint(r.Only)}
}

// Endless reports whether such allocations last until berth gives them back. Those of a batch system
// end with their wall time, or when the batch system ends them.
func (s Shape) Endless() bool { return s.batch == "" }
