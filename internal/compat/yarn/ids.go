package yarn

import (
	"fmt"
	"strings"
)

// ids returns Hadoop's ids of a job. Hadoop counts jobs from 1 since the cluster's start, and programs expect four digits. The
// stamp distinguishes jobs with the same last four digits.
type ids struct {
	stamp  int64 // time of submission in ms; in Hadoop the time at which the cluster started
	number int
}

func (i ids) of(what string) string  { return fmt.Sprintf("%s_%d_%04d", what, i.stamp, i.number%10_000) }
func (i ids) job() string            { return i.of("job") }
func (i ids) application() string    { return i.of("application") }
func (i ids) container(n int) string { return fmt.Sprintf("%s_01_%06d", i.of("container"), n) }

// task returns the id of the task that berth calls "m-00003" or "r-00000".
func (i ids) task(name string) string { return i.of("task") + "_" + taskPart(name) }

// attempt returns the id of an attempt, counted from 1.
func (i ids) attempt(name string, n int) string {
	return fmt.Sprintf("%s_%s_%d", i.of("attempt"), taskPart(name), n-1)
}

func taskPart(name string) string {
	kind, number, _ := strings.Cut(name, "-")
	return kind + "_" + strings.Repeat("0", max(0, 6-len(number))) + number
}

// taskType returns Hadoop's word for the kind of a task.
func taskType(name string) string {
	if strings.HasPrefix(name, "r") {
		return "REDUCE"
	}
	return "MAP"
}
