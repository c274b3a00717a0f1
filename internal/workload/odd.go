package workload

import (
	"fmt"
	"strconv"
	"time"

	"berth/internal/job"
)

// Longest and Latest bound what readers of logs believe: no job runs or asks for more, none
// is submitted later after the beginning. So the times of a simulation fit job.Time.
const (
	Longest = 10 * 365 * 24 * time.Hour
	Latest  = job.Time(1<<32) * job.Time(time.Second)
)

// OnOdd is what the reader of a log does with lines that make no sense.
type OnOdd uint8

const (
	// Refuse stops at the first such line.
	Refuse OnOdd = iota
	// Skip leaves them out and lists them.
	Skip
)

// ParseOnOdd returns what a word of the command line stands for.
func ParseOnOdd(word string) (OnOdd, error) {
	switch word {
	case "refuse":
		return Refuse, nil
	case "skip":
		return Skip, nil
	}
	return 0, fmt.Errorf("odd lines cannot be treated by %q: use refuse or skip", word)
}

// Odd is a line of a log that makes no sense.
type Odd struct {
	Line int // from 1
	Why  string
}

// In returns the error that the line is in a file, whose name may be empty.
func (o Odd) In(file string) *job.Error {
	return BadLine(file, o.Line, o.Why, "mend the line, or have odd lines skipped")
}

// BadLine returns the error that a person has to mend something in a line of a file.
func BadLine(file string, line int, what, do string) *job.Error {
	where := "line " + strconv.Itoa(line)
	if file != "" {
		where = file + ":" + strconv.Itoa(line)
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what, Do: do}
}
