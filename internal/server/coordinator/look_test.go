package coordinator

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver"
	"berth/internal/server/leader"
	"berth/internal/server/queuelog"
	"berth/internal/sys/statedir"
)

// queueDriver shows a queue in which a job ran at the first look, and no more at later ones.
type queueDriver struct {
	driver.Driver // panics if anything else is called
	looks         int
	asked         []string
}

func (d *queueDriver) Snapshot(_ context.Context, id string) (cluster.Snapshot, error) {
	d.looks++
	d.asked = append(d.asked, id)
	begin := job.Time(time.Hour)
	s := cluster.Snapshot{Driver: "slurm", At: begin.Add(time.Duration(d.looks) * time.Minute), Queue: &cluster.Queue{ID: id, Cluster: "c"}}
	if d.looks == 1 {
		s.Queue.Running = []cluster.Queued{{ID: "7", User: "a", Count: 1, Start: begin, Limit: time.Hour}}
	}
	return s, nil
}

func (d *queueDriver) Past(_ context.Context, id, _ string, from job.Time) (starts.History, error) {
	d.asked = append(d.asked, "before "+id)
	return starts.History{Since: from, Ended: []starts.Ended{{Job: starts.Job{User: 1, Nodes: 1, Limit: time.Hour}, At: job.Time(time.Minute), Run: time.Minute}}}, nil
}

func (d *queueDriver) Close() error { return nil }

// TestLooksAtQueues: the queues of the allocations that are there are looked at, each once a time; accounting is asked once for what
// was before; and what was seen is on the disk when the coordinator has ended.
func TestLooksAtQueues(t *testing.T) {
	h := statedir.Home{Dir: t.TempDir()}
	s := newServer(Options{Home: h, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	d := &queueDriver{}
	s.backends.add("slurm", d)
	s.lookAtQueues() // no allocation is there, so nothing is looked at
	for _, id := range []job.AllocID{"a1", "a2"} {
		s.shapes[id] = job.AllocRequest{On: "slurm", Elastic: true, Batch: job.Batch{Cluster: "c/1"}}
	}
	s.shapes["a3"] = job.AllocRequest{On: "local"}
	for range 2 {
		s.lookAtQueues()
		s.planning.Wait()
	}
	if !slices.Equal(d.asked, []string{"c/1", "before c/1", "c/1"}) {
		t.Errorf("looked at %q", d.asked)
	}
	if err := s.shutDown(); err != nil {
		t.Fatal(err)
	}
	snap, _ := d.Snapshot(t.Context(), "c/1")
	if p := queuelog.Past(h, &snap); p == nil || p.Jobs != 2 {
		t.Errorf("past %+v, want the job that has ended and the one that accounting knows", p)
	}
}
