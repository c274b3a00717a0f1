package batch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// anew is a batch system that was set up anew: its ids begin again, and those of the list belong to other jobs.
type anew struct {
	nobody
	others    []string
	cancelled *[]string
}

func (s anew) Jobs(_ context.Context, jobs []Job) (map[string]Status, error) {
	all := map[string]Status{}
	for _, j := range jobs {
		if all[j.ID] = (Status{Phase: Waiting, Why: "priority"}); slices.Contains(s.others, j.ID) {
			all[j.ID] = AnotherJob
		}
	}
	return all, nil
}

func (s anew) Cancel(_ context.Context, id string, _ bool) error {
	*s.cancelled = append(*s.cancelled, id)
	return nil
}

// TestRepeatedID: an allocation of an earlier hour was job 4 of a cluster that was made anew, and job 4 is another one now. Whatever is to be done
// with the allocation, its end is reported and the other job is left alone.
func TestRepeatedID(t *testing.T) {
	for _, c := range []struct {
		name      string
		id        string
		released  bool
		wake      bool
		reports   []step.Input
		cancelled []string
	}{
		{name: "it waits", id: "5", reports: []step.Input{step.AllocNote{Alloc: "a2", Note: "Some job 5 waits: priority"}}},
		{name: "its id is another job's", id: "4", reports: []step.Input{step.AllocDown{Alloc: "a2", Reason: "Some job 4: " + AnotherJob.Verdict.Reason}}},
		{name: "it is given back", id: "5", released: true, cancelled: []string{"5"}},
		{name: "it is given back, and its id is another job's", id: "4", released: true},
		{name: "a wake-up job is not needed", id: "5", wake: true, cancelled: []string{"5"}},
		{name: "a wake-up job is not needed, and its id is another job's", id: "4", wake: true},
	} {
		var reports []step.Input
		var cancelled []string
		d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return job.Time(time.Hour) }, Report: func(in step.Input) { reports = append(reports, in) }}, Dir: t.TempDir()})
		d.system = anew{others: []string{"4"}, cancelled: &cancelled}
		a := d.alloc("a2", job.AllocRequest{Nodes: 1})
		if a.job, a.released = c.id, c.released; c.wake {
			a.dir, a.wake = filepath.Join(d.wakeDir(), "w1"), true
			d.guard.jobs = []*alloc{a}
			d.retireWakes(0)
		} else {
			d.allocs = []*alloc{a}
		}
		if err := os.MkdirAll(a.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.writeScript(a, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		d.cancelDue(t.Context())
		d.nextPoll = 0
		d.pollDue(t.Context())
		d.work.Wait()
		if !slices.Equal(reports, c.reports) || !slices.Equal(cancelled, c.cancelled) {
			t.Errorf("%s: reports %+v, cancelled %q", c.name, reports, cancelled)
		}
		if left := len(d.allocs); left > 0 && (c.id == "4" || c.wake) {
			t.Errorf("%s: it is still watched", c.name)
		}
	}
}
