package plan

import (
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/predict"
)

// Slotting is what Algorithm1 and Naive are asked: a MapReduce job (or bag: no reduces) and
// the queue it goes to.
type Slotting struct {
	Now           job.Time
	Maps, Reduces int
	Invariants    predict.Invariants
	Timeline      *cluster.Timeline // free nodes
	MaxNodes      int               // that can be asked for
	MaxTime       time.Duration     // that can be asked for; 0: unlimited
	PerNode       int               // map slots, and reduce slots, of a node
	// Fewest has the smallest number of nodes win whose turnaround is within 1 % of the
	// best (models.md, section 2); the paper takes all nodes of the slot.
	Fewest bool
}
