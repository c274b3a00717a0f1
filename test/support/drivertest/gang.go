package drivertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/wire"
)

// together is a task of two ranks that wait for each other.
const together = `: >$BERTH_RANK; until [ -e 0 ] && [ -e 1 ]; do sleep 0.1; done; echo "$BERTH_RANK of $BERTH_RANKS"`

// gang checks that two workers of an allocation reach each other: one of them starts a task that has a rank on each.
func (b *bench) gang(alloc job.AllocID, up map[job.NodeID]connected) {
	b.t.Helper()
	spec := job.New(job.Bag, b.t.TempDir())
	spec.ID = "bag-1"
	spec.Bag.Command, spec.Bag.Shell, spec.Bag.Env = []string{together}, true, os.Environ()
	spec.Bag.Ranks, spec.Bag.EachRank = 2, true
	spec.Normalize()
	text, err := json.Marshal(spec)
	if err != nil {
		b.t.Fatal(err)
	}
	m := &wire.Start{Start: step.Start{Attempt: job.Attempt{Job: spec.ID, N: 1}, Through: job.PhaseStore}}
	nodes := []job.NodeID{alloc.Node(0), alloc.Node(1)}
	for _, node := range nodes {
		m.Gang = append(m.Gang, step.Share{Share: event.Share{Node: node, Ranks: 1}, Host: up[node].hello.Host, Addr: up[node].hello.Addr})
	}
	first, second := up[nodes[0]].conn, up[nodes[1]].conn
	described := &wire.Job{Spec: text, RunDir: b.t.TempDir()}
	b.say(second, described, wire.Join{Attempt: m.Attempt})
	b.say(first, described, m)
	if end := b.end(first); end.Outcome != event.Done || len(end.Shares) != 2 {
		b.t.Errorf("the gang of %+v ended with %+v", m.Gang, end)
	}
	b.say(second, wire.Leave{Attempt: m.Attempt})
	for rank := range 2 {
		path := filepath.Join(spec.Dir, "bag-1", fmt.Sprintf("1.%d.stdout", rank))
		if got, err := os.ReadFile(path); string(got) != fmt.Sprintf("%d of 2\n", rank) {
			b.t.Errorf("rank %d printed %q (%v)", rank, got, err)
		}
	}
}

func (b *bench) say(conn *wire.Conn, all ...wire.Message) {
	b.t.Helper()
	if err := conn.Send(all...); err != nil {
		b.t.Fatal(err)
	}
}

// end lets a worker commit its attempt, and returns how that ended.
func (b *bench) end(conn *wire.Conn) wire.Ended {
	b.t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(b.backend.Patience)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m, err := conn.Recv()
		if err != nil {
			b.t.Fatalf("the attempt did not end: %v", err)
		}
		switch m := m.(type) {
		case wire.CommitWanted:
			b.say(conn, wire.Commit{Attempt: m.Attempt})
		case wire.Ended:
			b.say(conn, &wire.EndedAck{Attempt: m.Attempt})
			return m
		}
	}
}
