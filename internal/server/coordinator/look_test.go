package coordinator

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/starts"
	"berth/internal/driver"
	"berth/internal/server/leader"
	"berth/internal/server/queuelog"
	"berth/internal/server/rundir"
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
		s.beside.Wait()
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

// TestKeepsOwnStarts: how long the first allocation of a job has waited is kept beside the band that its plan predicted by the draws
// alone. Further allocations, those that a later plan requested, and starts that were not predicted by the history are not.
func TestKeepsOwnStarts(t *testing.T) {
	h := statedir.Home{Dir: t.TempDir()}
	s := newServer(Options{Home: h, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	d := &queueDriver{}
	s.backends.add("slurm", d)
	asked, minute := job.Time(100*time.Hour), job.Time(time.Minute)
	request := job.AllocRequest{On: "slurm", Elastic: true, Batch: job.Batch{Cluster: "c/1"}}
	for id, start := range map[job.ID]*plan.Start{"bag-1": {RawLow: 60, RawHigh: 600, Low: 1, High: 9999, Starts: 20}, "bag-2": nil, "bag-3": {RawLow: 60, RawHigh: 600}} {
		s.jobs[id] = &live{assignment: assignment{Decided: &rundir.Decided{Plan: plan.Plan{At: asked, Alloc: request, Start: start}}}}
	}
	s.jobs["bag-3"].Plan.At -= job.Time(time.Hour)
	for i, id := range []job.ID{"bag-1", "bag-1", "bag-2", "bag-3"} {
		a := job.AllocID(rune('a' + i))
		s.observe(event.Entry{At: asked, Record: event.AllocRequested{Alloc: a, Request: request, Job: id}})
		s.observe(event.Entry{At: asked + job.Time(7+i)*minute, Record: event.AllocBegan{Alloc: a}})
	}
	s.beside.Wait()
	s.observeQueue(t.Context(), queueOf{"slurm", "c/1"})
	if err := s.shutDown(); err != nil {
		t.Fatal(err)
	}
	snap, _ := d.Snapshot(t.Context(), "c/1")
	want := []starts.Came{{Band: starts.Band{Low: time.Minute, High: 10 * time.Minute}, Wait: 7 * time.Minute}}
	if p := queuelog.Past(h, &snap); p == nil || !slices.Equal(p.Came, want) {
		t.Errorf("past %+v, want %v", p, want)
	}
}
