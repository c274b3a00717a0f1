package job

import (
	"fmt"
	"math"
)

// Curve is the progress of a finished attempt over time. A profile stores curves, and the next job of
// the application is compared with them.
type Curve struct {
	Kind   TaskKind       `msgpack:"k" json:"kind"`   // 0: task of a bag, 1: map, 2: reduce
	Source ProgressSource `msgpack:"s" json:"source"` // as in `running[].source` of a job
	// Marks holds three numbers for each point of the curve: seconds since the attempt began, the count in the
	// unit of Source, and seconds of processor time.
	Marks []float64 `msgpack:"m" json:"marks"` // seconds since the attempt began, count and seconds of processor time of each mark in turn
}

// maxMarks bounds the number of values of a curve.
const maxMarks = 3 * 100

// Check returns an error for numbers that are no curve.
func (c Curve) Check() error {
	for i, v := range c.Marks {
		if len(c.Marks)%3 != 0 || len(c.Marks) > maxMarks || !(v >= 0 && v <= math.MaxFloat64) || i >= 3 && v < c.Marks[i-3] {
			return fmt.Errorf("impossible curve of progress")
		}
	}
	return nil
}
