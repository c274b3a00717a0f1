package ui

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Explanation is the JSON form of berth explain.
type Explanation struct {
	Lines []string `json:"lines"`
}

// Ending returns lines that say how a job ended and what the user can do.
func Ending(v report.JobView) []string {
	var lines []string
	switch v.State {
	case string(event.StateDone):
		return []string{fmt.Sprintf("it is done: %d of %s", v.TasksDone, job.Count(v.TasksTotal, "task"))}
	case string(event.StateCancelled):
		lines = append(lines, "it was cancelled: "+v.Reason)
	default:
		lines = append(lines, "it failed: "+v.Reason)
	}
	if n := v.TasksTotal - v.TasksDone - v.TasksFailed; n > 0 {
		lines = append(lines, fmt.Sprintf("%s can go on: berth resume %s", job.Count(n, "task"), v.ID))
	}
	if n := v.TasksFailed; n > 0 && v.Fix != "" {
		if more := partly(v); more != "" {
			return append(lines, fmt.Sprintf("%s failed; %s", job.Count(n, "task"), more))
		}
		return append(lines, fmt.Sprintf("%s that failed can run again with more: %s", job.Count(n, "task"), v.Fix))
	}
	if n := v.TasksFailed; n > 0 && v.Kind == job.Bag {
		lines = append(lines, fmt.Sprintf("%s that failed can run again: berth resume --failed %s", job.Count(n, "task"), v.ID))
	}
	return lines
}
