package coordinator

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// TestListIsBrief: the list of all jobs has no nodes, as each job may have thousands; a job that is asked for alone has them. What lists have is
// without them, and with running attempts only on request.
func TestListIsBrief(t *testing.T) {
	s := running(t, options(t))
	for _, id := range []job.ID{"bag-1", "bag-2"} {
		l := &live{run: s.home.Run(id), assignment: assignment{Decided: &rundir.Decided{}}}
		l.last = &report.JobView{Status: report.Status{ID: id}, Nodes: []report.NodeView{{Node: "a1/0"}}}
		l.last.Running = []report.RunningView{{Name: "1"}}
		if err := s.call(func() error { s.addJob(l); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/v1/jobs": "bag-1 0 1, bag-2 0 1, ", "/v1/jobs?id=bag-2": "bag-2 1 1, ", "/v1/jobs?id=bag-3": "",
		"/v1/jobs?brief=true": "bag-1 0 0, bag-2 0 0, ", "/v1/jobs?brief=true&running=true": "bag-1 0 1, bag-2 0 1, ",
		"/v1/jobs?brief=true&id=bag-2": "bag-2 0 0, ",
	} {
		list, err := s.listJobs(httptest.NewRequest("", path, nil))
		if err != nil {
			t.Fatal(err)
		}
		jobs, whole := list.(control.Jobs)
		if !whole {
			jobs = list.(control.Listed).Jobs
		}
		got := ""
		for _, v := range jobs.Jobs {
			got += fmt.Sprintf("%s %d %d, ", v.ID, len(v.Nodes), len(v.Running))
		}
		if got != want {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
}
