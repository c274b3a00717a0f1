package job

import "strconv"

// MaxPower is the most power of a node that is believed, in watts.
const MaxPower = 1e6

// Power is what a node takes of electric power, in watts. The zero value says that it is not known.
type Power struct {
	Idle float64 `json:"idle_w"`
	Max  float64 `json:"max_w"` // with all cores in use; at least Idle
}

// NodePower is the power of some nodes, as a user told it.
type NodePower struct {
	Nodes string `json:"nodes,omitempty"` // as of NodeRate
	Power
}

// PowerOf returns the power of a node, the zero value for one that nothing was told of. constraint is what nodes were
// asked for by (Batch.Constraint).
func PowerOf(told []NodePower, host, constraint string) Power {
	return fitting(told, nodeNames(host, constraint), func(p NodePower) string { return p.Nodes }).Power
}

// String writes the power as users do: "80:250".
func (p Power) String() string {
	return strconv.FormatFloat(p.Idle, 'g', -1, 64) + ":" + strconv.FormatFloat(p.Max, 'g', -1, 64)
}

// Joules returns the energy that a node takes which is held for some seconds in which its cores do so
// many core-seconds of work: P_idle and a part of P_max − P_idle by the utilisation of the cores (models.md, Energy).
func (p Power) Joules(held, work float64, cores int) (idle, busy float64) {
	if cores > 0 {
		busy = (p.Max - p.Idle) * work / float64(cores)
	}
	return p.Idle * held, busy
}

// valid reports whether the power is none or one that a node can have.
func (p Power) valid() bool { return p.Idle >= 0 && p.Idle <= p.Max && p.Max <= MaxPower }
