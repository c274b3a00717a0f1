package ui

import (
	"strings"
	"testing"
	"time"

	"berth/internal/server/report"
)

// TestSuspended: what keeps the nodes of an allocation that has begun from work is told once, and not as another begin.
func TestSuspended(t *testing.T) {
	at, n := time.Unix(1000, 0), news{}
	view := func(state, note string) string {
		a := report.AllocView{Alloc: "a1", State: state, Nodes: 1, Note: note, Requested: at, Began: at}
		return strings.Join(n.allocLines(report.JobView{At: at, Allocs: []report.AllocView{a}}), "\n")
	}
	for i, c := range []struct{ state, note, want string }{
		{report.AllocWaiting, "Slurm: Resources", ""},
		{report.AllocRunning, "", "allocation a1 of 1 node has begun after 0s"},
		{report.AllocRunning, "Slurm job 4 is suspended", "allocation a1: Slurm job 4 is suspended"},
		{report.AllocRunning, "Slurm job 4 is suspended", ""},
		{report.AllocRunning, "", ""},
		{report.AllocRunning, "Slurm job 4 is suspended", "allocation a1: Slurm job 4 is suspended"},
		{report.AllocOver, "", "allocation a1 is over"},
	} {
		if got := view(c.state, c.note); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}
