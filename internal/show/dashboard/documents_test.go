package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// TestHistoryOrder checks that the page of predictions gets the newest run last, while lists have it first.
func TestHistoryOrder(t *testing.T) {
	d := documents{Source: Source{Home: statedir.Home{Dir: t.TempDir()}, List: func(context.Context) (views []report.JobView, more int, err error) {
		for _, id := range []job.ID{"bag-3", "bag-2", "bag-1"} {
			v := report.JobView{ActualS: new(1.0), Predicted: &report.Prediction{UpSeconds: 2}}
			v.ID = id
			views = append(views, v)
		}
		return views, 0, nil
	}}}
	doc, err := d.history(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []job.ID
	for _, r := range doc.Runs {
		ids = append(ids, r.ID)
	}
	if want := []job.ID{"bag-1", "bag-2", "bag-3"}; !slices.Equal(ids, want) {
		t.Errorf("the runs are %v, want %v", ids, want)
	}
}

// TestListTellsEnds: each job of the list has the time of its own end, whatever the order of the views.
func TestListTellsEnds(t *testing.T) {
	at := time.Unix(1000, 0)
	views := []report.JobView{
		{Status: report.Status{ID: "bag-2"}, Submitted: at.Add(time.Minute), Ended: at.Add(time.Hour)},
		{Status: report.Status{ID: "bag-1"}, Submitted: at, Ended: at.Add(2 * time.Minute)},
	}
	ends := map[job.ID]time.Time{}
	for _, j := range newList(views, 0).Jobs {
		ends[j.ID] = j.Ended
	}
	if ends["bag-1"] != views[1].Ended || ends["bag-2"] != views[0].Ended {
		t.Errorf("the ends of the listed jobs are %v", ends)
	}
}

// TestListTellsVersion: the page of all jobs has the version of the program.
func TestListTellsVersion(t *testing.T) {
	d := documents{Source: Source{Version: "1.2.3 commit abc", List: func(context.Context) ([]report.JobView, int, error) { return nil, 0, nil }}}
	doc, _, err := d.make(t.Context(), nil)
	if list, ok := doc.(listDocument); !ok || err != nil || list.Version != "1.2.3 commit abc" {
		t.Errorf("the list is %+v, %v", doc, err)
	}
}

// TestHistoryTellsSlowNodes: the page of predictions has how often nodes were slow by hour, and a bounded number of nodes, the slowest first.
func TestHistoryTellsSlowNodes(t *testing.T) {
	d := documents{Source: Source{Home: statedir.Home{Dir: t.TempDir()}, List: func(context.Context) ([]report.JobView, int, error) { return nil, 0, nil }}}
	s, err := history.Open(t.Context(), d.Home.Database())
	if err != nil {
		t.Fatal(err)
	}
	r := history.Measured{Run: history.Run{ID: "bag-1", Kind: job.Bag}}
	for i := range 30 {
		r.Spells.Merge(predict.Spells{{Host: fmt.Sprint("n", i), Hour: i % 3, Attempts: 30, Slow: i}})
	}
	commit, err := s.Save(t.Context(), r)
	if err == nil {
		err = errors.Join(commit(), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := d.history(t.Context())
	if v := doc.Slowness; err != nil || v.Attempts != 900 || len(v.Hours) != 3 || len(v.Hosts) != mostSlowHosts || v.Hosts[0].Host != "n29" {
		t.Errorf("%+v, %v", v, err)
	}
}
