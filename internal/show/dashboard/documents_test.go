package dashboard

import (
	"context"
	"slices"
	"testing"

	"berth/internal/core/job"
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
