package report_test

import (
	"encoding/json"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestStatusList: newest last, and no keys but those that are promised.
func TestStatusList(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	eta := 3.0
	view := func(id job.ID, submitted time.Time) report.JobView {
		return report.JobView{
			Status: report.Status{ID: id, Name: "n", Kind: "bag", State: "done", TasksDone: 1, TasksTotal: 2,
				TasksFailed: 1, ElapsedS: 2.5, EtaS: &eta, EtaFrom: report.EtaFromRate},
			Submitted: submitted,
		}
	}
	list := report.NewStatusList([]report.JobView{
		view("bag-12", time.Time{}), view("bag-9", time.Time{}), view("bag-10", at(30)), view("mr-8", at(20)), view("bag-7", at(20)),
	}, 3)
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	rest := `","name":"n","kind":"bag","state":"done","tasks_done":1,"tasks_total":2,"tasks_failed":1,"tasks_running":0,"elapsed_s":2.5,"eta_s":3,"eta_from":"rate","running":[]}`
	want := `{"jobs":[{"id":"mr-8` + rest + `,{"id":"bag-7` + rest + `,{"id":"bag-10` + rest + `,{"id":"bag-9` + rest + `,{"id":"bag-12` + rest + `],"more":3}`
	if string(raw) != want {
		t.Errorf("got\n%s\nwant\n%s", raw, want)
	}
	if raw, _ := json.Marshal(report.NewStatusList(nil, 0)); string(raw) != `{"jobs":[],"more":0}` {
		t.Errorf("no jobs are %s", raw)
	}
}
