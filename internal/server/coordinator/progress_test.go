package coordinator

import (
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
	"berth/internal/server/report"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// BenchmarkProgress measures what it costs to take in how far 10,000 running tasks are: one operation is a heartbeat of
// each of 100 workers, decoded, taken into the job's view and by the engine. Workers send one each two seconds; "%core" is what that takes of a core.
func BenchmarkProgress(b *testing.B) {
	const nodes, each = 100, 100
	e := engine.New(engine.Config{Order: sched.FIFO})
	view := report.New(report.Info{ID: "bag-1", Kind: job.Bag})
	now, seq := job.Time(0), uint64(0)
	tell := func(in step.Input) {
		out, err := e.Step(now, in)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range out.Records {
			seq++
			view.Apply(event.Entry{Seq: seq, At: now, Record: r})
		}
	}
	now++
	node := job.Resources{CPUs: each, Mem: 1 << 40}
	tell(step.Submit{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 2 * nodes * each, Terms: job.Terms{Need: job.Resources{CPUs: 1}, Attempts: 1, MaxFails: -1},
		Alloc: job.AllocRequest{On: "bench", Nodes: nodes, PerNode: node}}})
	for i := range nodes {
		now++
		tell(step.NodeUp{NodeJoined: event.NodeJoined{Node: job.AllocID("a1").Node(i), Capacity: node}})
	}
	if n := view.View(now).TasksRunning; n != nodes*each {
		b.Fatalf("%d tasks run", n)
	}
	beat := make([]wire.Progress, each)
	var frame []byte
	count := 0.0
	for b.Loop() {
		count++
		now = now.Add(2 * time.Second)
		for n := range nodes {
			b.StopTimer()
			for i := range beat {
				at := job.Attempt{Job: "bag-1", Task: n*each + i, N: 1}
				beat[i] = wire.Progress{PhaseProgress: probe.PhaseProgress{Phase: job.PhaseCompute, Part: -1},
					Progress: job.Progress{Attempt: at, Source: job.ProgressHits, N: 1000 * count, Fraction: -1, CPU: time.Duration(count) * time.Second}}
			}
			var err error
			if frame, err = wire.AppendFrame(frame[:0], &wire.Heartbeat{Progress: beat}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			m, err := wire.Decode(frame[4], frame[5:])
			if err != nil {
				b.Fatal(err)
			}
			of := make([]job.Progress, 0, each)
			for _, p := range m.(*wire.Heartbeat).Progress {
				view.ApplyProgress(job.AllocID("a1").Node(n), p)
				of = append(of, p.Progress)
			}
			tell(step.Progress{Node: job.AllocID("a1").Node(n), Of: of})
		}
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/count/heartbeat.Seconds(), "%core")
}

// TestNothingRunsOnFullDisk: while the disk is full, ends of attempts wait to be recorded: no job is said to have attempts that run, nor an end that comes.
func TestNothingRunsOnFullDisk(t *testing.T) {
	s := running(t, options(t))
	now := s.now()
	l := &live{report: report.New(report.Info{ID: "bag-1", Kind: job.Bag})}
	alloc, node := job.AllocRequest{On: "bench", Nodes: 1, PerNode: job.Resources{CPUs: 1}}, job.AllocID("a1").Node(0)
	for i, r := range []event.Record{
		event.JobSubmitted{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 1, Alloc: alloc}},
		event.AttemptStarted{Attempt: job.Attempt{Job: "bag-1", N: 1}, Node: node, Through: job.PhaseStore},
	} {
		l.report.Apply(event.Entry{Seq: uint64(i + 1), At: now, Record: r})
	}
	if v := s.view(l); v.TasksRunning != 1 || len(v.Running) != 1 {
		t.Fatalf("with room %d tasks run: %+v", v.TasksRunning, v.Running)
	}
	s.full.Store(true)
	if v := s.view(l); v.TasksRunning != 0 || len(v.Running) != 0 || v.EtaS != nil {
		t.Errorf("on a full disk %d tasks run: %+v, ETA %v", v.TasksRunning, v.Running, v.EtaS)
	}
}
