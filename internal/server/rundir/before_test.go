package rundir

import (
	"os"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// TestBefore: runs of an older berth are read. testdata/before is the folders of a bag and of a
// MapReduce job that 7e933b4 ran and resumed on one machine.
func TestBefore(t *testing.T) {
	h := newHome(t)
	for id, mean := range map[job.ID]time.Duration{"bag-1": time.Millisecond, "mr-2": 24 * time.Millisecond} {
		r := h.Run(id)
		if err := os.CopyFS(r.Dir, os.DirFS("testdata/before/"+string(id))); err != nil {
			t.Fatal(err)
		}
		p, err := LoadPlan(r)
		if err != nil || p.Alloc.Nodes != 1 || p.Alloc.PerNode.CPUs != 2 || p.TaskMean != mean {
			t.Errorf("%s was planned as %+v, %v", id, p, err)
		}
		var summary report.JobView
		if err := statedir.ReadJSON(r.Summary(), &summary); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(r.Summary()); err != nil {
			t.Fatal(err)
		}
		v := viewOf(t, r)
		if !reflect.DeepEqual(v.Status, summary.Status) || v.Attempts != summary.Attempts || v.Retries != summary.Retries || len(v.Failures) != len(summary.Failures) {
			t.Errorf("the journal of %s tells\n%+v, its summary\n%+v", id, v, summary)
		}
	}
}
