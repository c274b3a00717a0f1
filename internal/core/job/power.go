package job

import "strconv"

// MaxPower is the largest power of a node that is accepted, in watts.
const MaxPower = 1e6

// Power is the electric power of a node, in watts. The zero value means that it is unknown.
type Power struct {
	Idle float64 `json:"idle_w"`
	Max  float64 `json:"max_w"` // with all cores in use; at least Idle
}

// NodePower is the power of some nodes, as the user gave it.
type NodePower struct {
	Nodes string `json:"nodes,omitempty"` // a pattern, as in NodeRate
	Power
}

// PowerOf returns the power of a node, or the zero value if the user gave none. constraint is the constraint of the
// node's allocation (Batch.Constraint).
func PowerOf(given []NodePower, host, constraint string) Power {
	return fitting(given, nodeNames(host, constraint), func(p NodePower) string { return p.Nodes }).Power
}

// String writes the power as users do: "80:250".
func (p Power) String() string {
	return strconv.FormatFloat(p.Idle, 'g', -1, 64) + ":" + strconv.FormatFloat(p.Max, 'g', -1, 64)
}

// Joules returns the energy of a node in joules. The node is allocated for held seconds, in which its cores do work
// core-seconds of work. idle is P_idle · held; busy is the part of P_max − P_idle that the utilization of the cores
// causes (models.md, "Energy").
func (p Power) Joules(held, work float64, cores int) (idle, busy float64) {
	if cores > 0 {
		busy = (p.Max - p.Idle) * work / float64(cores)
	}
	return p.Idle * held, busy
}
