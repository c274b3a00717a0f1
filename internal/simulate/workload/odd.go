package workload

import (
	"strconv"
	"time"

	"berth/internal/core/job"
)

// Longest and Latest limit the values that readers of logs accept: run times and requests, and
// submission times. So the times of a simulation fit job.Time.
const (
	Longest = 10 * 365 * 24 * time.Hour
	Latest  = job.Time(1<<32) * job.Time(time.Second)
)

// OnOdd is what the reader of a log does with odd lines, which cannot be a valid job.
type OnOdd uint8

const (
	// Refuse returns an error at the first odd line.
	Refuse OnOdd = iota
	// Skip leaves odd lines out and lists them.
	Skip
)

// Odd is an odd line of a log.
type Odd struct {
	Line int // counted from 1
	Why  string
}

// Take refuses an odd line of a file, or adds it to those that were skipped. A line with nothing wrong is not odd.
func (on OnOdd) Take(skipped *[]Odd, odd Odd, file string) error {
	switch {
	case odd.Why == "":
	case on == Refuse:
		return BadLine(file, odd.Line, odd.Why, "correct the line, or skip odd lines")
	default:
		*skipped = append(*skipped, odd)
	}
	return nil
}

// BadLine returns the error for a line of a file that the user has to correct.
func BadLine(file string, line int, what, do string) *job.Error {
	where := "line " + strconv.Itoa(line)
	if file != "" {
		where = file + ":" + strconv.Itoa(line)
	}
	return job.ConfigError(where, what, do)
}
