package coordinator

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// pairs connects a worker to a coordinator.
func connect(t *testing.T, node job.NodeID) (ses *session, worker *wire.Conn) {
	t.Helper()
	ca, err := wire.GenerateCA(filepath.Join(t.TempDir(), "ca"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err1 := ca.IssueCoordinator()
	theirs, err2 := ca.IssueWorker(node)
	l, err3 := wire.Listen("127.0.0.1:0", ours, nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	worker, err = wire.Dial(context.Background(), &wire.Bundle{Addrs: []string{l.Addr().String()}, Identity: theirs})
	if err == nil {
		err = worker.Send(&wire.Hello{Version: wire.Version, Node: node})
	}
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), worker.Close() })
	return &session{node: node, conn: conn}, worker
}

// asked waits for the coordinator's question.
func asked(t *testing.T, worker *wire.Conn) *wire.Sync {
	t.Helper()
	m, err := worker.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return m.(*wire.Sync)
}

// The record that a task is done is made durable after the task's output.
func TestOutputsAreDurableBeforeRecords(t *testing.T) {
	ses, worker := connect(t, "a1/0")
	o := newOutputs()
	o.patience = time.Hour
	o.tell(ses)
	synced := make(chan struct{})
	ended := make(chan error)
	go func() { ended <- o.sync(func() error { close(synced); return nil }) }()
	q := asked(t, worker)
	select {
	case <-synced:
		t.Fatal("the journals were synced before the outputs")
	default:
	}
	o.answer(ses, q.N-1, &wire.Synced{N: q.N - 1}) // of an earlier round
	select {
	case <-synced:
		t.Fatal("an old answer was taken for the one that was asked for")
	default:
	}
	o.tell(ses) // of a task that ended meanwhile
	o.answer(ses, q.N, &wire.Synced{N: q.N})
	<-synced
	o.answer(ses, asked(t, worker).N, &wire.Synced{})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := o.sync(func() error { return nil }); err != nil { // nobody is asked
		t.Error(err)
	}
}

// Neither a worker that hangs up, nor one whose disk fails or hangs, keeps records from the disk.
func TestOutputsThatCannotBeDurable(t *testing.T) {
	for name, tt := range map[string]struct {
		patience time.Duration
		answer   func(o *outputs, ses *session, n int64)
		want     string
	}{
		"hangs up": {time.Hour, func(o *outputs, ses *session, _ int64) { o.leave(ses) }, ""},
		"fails":    {time.Hour, func(o *outputs, ses *session, n int64) { o.answer(ses, n, &wire.Synced{N: n, Error: "no space"}) }, "a1/0: no space"},
		"hangs":    {time.Millisecond, func(*outputs, *session, int64) {}, "do not come to their disk"},
	} {
		ses, worker := connect(t, "a1/0")
		o := newOutputs()
		o.patience = tt.patience
		o.tell(ses)
		journals, ended := false, make(chan error)
		go func() { ended <- o.sync(func() error { journals = true; return nil }) }()
		tt.answer(o, ses, asked(t, worker).N)
		if err := <-ended; tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if !journals {
			t.Errorf("%s: the journals were not synced", name)
		}
	}
}

// Syncing takes at most a twentieth of the time, and never leaves records for long.
func TestPauseAfterSync(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: 0, 10 * time.Millisecond: 190 * time.Millisecond, time.Second: 19 * time.Second, time.Minute: maxSyncPause,
	} {
		if got := pauseAfter(took); got != want {
			t.Errorf("after a sync of %v: a pause of %v, want %v", took, got, want)
		}
	}
}
