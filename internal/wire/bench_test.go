package wire

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

func BenchmarkEncode(b *testing.B) {
	for name, m := range benchMessages() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			var err error
			for b.Loop() {
				if buf, err = AppendFrame(buf[:0], m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, m := range benchMessages() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			frame, err := AppendFrame(nil, m)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Decode(frame[4], frame[headerSize:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchMessages() map[string]Message {
	a := job.Attempt{Job: "bag-17", Task: 123456, N: 1}
	return map[string]Message{
		"start": &Start{Start: step.Start{Attempt: a, Through: job.PhaseStore, Commit: true}, Entry: job.Entry{"input-123456.dat"}},
		"ended": Ended{AttemptEnded: event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{
			{Phase: job.PhaseFetch, Start: 1_700_000_000e9, End: 1_700_000_001e9},
			{Phase: job.PhaseCompute, Start: 1_700_000_001e9, End: 1_700_000_002e9, CPU: 1e6, PeakMemory: 1 << 20},
			{Phase: job.PhaseStore, Start: 1_700_000_002e9, End: 1_700_000_003e9},
		}}},
	}
}

// BenchmarkStream sends one way over TLS as fast as the receiver takes it.
func BenchmarkStream(b *testing.B) {
	coordinator, worker := connected(b)
	m := benchMessages()["start"]
	b.ReportAllocs()
	done := make(chan error)
	n := 0
	go func() {
		for {
			m, err := worker.Recv()
			if err != nil || is[*Shutdown](m) {
				done <- err
				return
			}
		}
	}()
	for b.Loop() {
		n++
		if err := coordinator.Send(m); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(coordinator.Send(&Shutdown{}), <-done); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}

// BenchmarkPingPong is a task's round trip over TLS: Start one way, Ended the other.
func BenchmarkPingPong(b *testing.B) {
	coordinator, worker := connected(b)
	messages := benchMessages()
	go func() {
		for {
			if m, err := worker.Recv(); err != nil || !is[*Start](m) {
				return
			}
			if err := worker.Send(messages["ended"]); err != nil {
				return
			}
		}
	}()
	for b.Loop() {
		if err := coordinator.Send(messages["start"]); err != nil {
			b.Fatal(err)
		}
		if _, err := coordinator.Recv(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeld reports the memory of an end of a connection that is silent, with the stack of the goroutine that reads from it, after a
// task was started and has ended. A coordinator has thousands of them.
func BenchmarkHeld(b *testing.B) {
	const pairs = 300
	a := newAuthority(b)
	l, _ := listen(b, a)
	for b.Loop() {
		before := held()
		var ends []*Conn
		for i := range pairs {
			worker, coordinator := join(b, a, l, job.NodeID(fmt.Sprintf("a1/%d", i)))
			ends = append(ends, worker, coordinator)
		}
		time.Sleep(100 * time.Millisecond) // the last ends have read what was sent
		b.ReportMetric(float64(held()-before)/float64(len(ends)), "B/end")
		for _, c := range ends {
			_ = c.Close()
		}
	}
}

// join connects a worker, has it do a task, and lets both ends wait for more.
func join(b *testing.B, a authority, l *Listener, node job.NodeID) (worker, coordinator *Conn) {
	worker, err := Dial(b.Context(), &Bundle{Addrs: []string{l.Addr().String()}, Identity: a.worker(b, node)})
	if err == nil {
		err = worker.Send(&Hello{Version: Version, Node: node})
	}
	if err != nil {
		b.Fatal(err)
	}
	if coordinator, _, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(coordinator.Send(benchMessages()["start"]), worker.Send(benchMessages()["ended"])); err != nil {
		b.Fatal(err)
	}
	for _, c := range []*Conn{worker, coordinator} {
		go func() {
			for {
				if _, err := c.Recv(); err != nil {
					return
				}
			}
		}()
	}
	return worker, coordinator
}

// held returns the bytes of the heap and of stacks that are in use.
func held() int64 {
	runtime.GC()
	runtime.GC() // stacks shrink, and pools are emptied
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
