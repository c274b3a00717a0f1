package job

import "time"

// Shape is what two allocations must have in common for one to serve the other's jobs.
type Shape struct {
	on      string
	scratch string
	batch   string // what both ask of a batch system (Batch.Key); empty on one machine

	// On one machine jobs share what was cut out of it for such jobs, of the same size.
	nodes      int
	perNode    Resources
	time       time.Duration // a job with a limit shares no allocation that has none
	sortMemory int64
	remote     string // on which hosts (Remote.Key)
}

// ShapeOf returns the shape of an allocation. For one of a batch system its size does not matter.
func ShapeOf(r AllocRequest) Shape {
	if r.Elastic {
		return Shape{on: r.On, scratch: r.Scratch, batch: r.Batch.Key()}
	}
	return Shape{on: r.On, nodes: r.Nodes, perNode: r.PerNode, time: r.Time, sortMemory: r.SortMemory, scratch: r.Scratch, remote: r.Remote.Key()}
}

// Endless reports whether such allocations last until they are given back, as those of one
// machine do. Those of a batch system end when their time is over, or when it takes them away.
func (s Shape) Endless() bool { return s.batch == "" }
