package job

import "testing"

// TestGangIn: a task's own ranks go before those of its bag, and no node has more ranks than the task.
func TestGangIn(t *testing.T) {
	for _, c := range []struct{ own, bag, want Gang }{
		{Gang{}, Gang{}, Gang{}},
		{Gang{}, Gang{8, 4}, Gang{8, 4}},
		{Gang{Ranks: 2}, Gang{8, 4}, Gang{2, 2}},
		{Gang{RanksPerNode: 2}, Gang{8, 4}, Gang{8, 2}},
		{Gang{RanksPerNode: 2}, Gang{}, Gang{}},
		{Gang{Ranks: 1}, Gang{8, 0}, Gang{1, 0}},
	} {
		if got := (Needs{Gang: c.own}).In(Needs{Gang: c.bag}).Gang; got != c.want {
			t.Errorf("%+v in %+v is %+v, want %+v", c.own, c.bag, got, c.want)
		}
	}
}
