package ui

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Ending returns lines that say how a job ended and what the user can do.
func Ending(v report.JobView) []string {
	end := "it failed: "
	switch v.State {
	case event.StateDone:
		return []string{fmt.Sprintf("it is done: %d of %s", v.TasksDone, job.Count(v.TasksTotal, "task"))}
	case event.StateCancelled:
		end = "it was cancelled: "
	}
	failed := ""
	switch more := partly(v); {
	case v.Fix != "" && more != "":
		failed = counted(v.TasksFailed, "task", " failed; "+more)
	case v.Fix != "":
		failed = counted(v.TasksFailed, "task", " that failed can run again with more: "+v.Fix)
	case v.Kind == job.Bag:
		failed = counted(v.TasksFailed, "task", " that failed can run again: berth resume --failed "+string(v.ID))
	}
	left := max(0, v.TasksTotal-v.TasksDone-v.TasksFailed)
	return given(end+v.Reason, counted(left, "task", " can go on: berth resume "+string(v.ID)), failed)
}
