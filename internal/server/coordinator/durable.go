package coordinator

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// outputPatience is how long journals wait to be made durable for outputs that a node does
// not bring to its disk: a file system that hangs must not keep all jobs' records from theirs.
const outputPatience = 10 * time.Second

// outputs sees to it that the outputs of bag tasks are on their disks before the records are
// that say they are done. Both are done for many tasks at a time, beside the loop.
type outputs struct {
	patience time.Duration
	one      sync.Mutex // held by sync: journals are made durable by one at a time

	mu    sync.Mutex
	round int64
	told  map[*session]bool       // workers that told of outputs since they were asked
	asked map[*session]chan error // workers that were asked in this round and have not answered
}

func newOutputs() *outputs {
	return &outputs{patience: outputPatience, told: make(map[*session]bool), asked: make(map[*session]chan error)}
}

// tell notes that a worker has put the output of a task into place.
func (o *outputs) tell(ses *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told[ses] = true
}

// answer takes a worker's answer to the question of that round, or to none.
func (o *outputs) answer(ses *session, m *wire.Synced) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.asked[ses]; c != nil && m.N == o.round {
		delete(o.asked, ses)
		if m.Error != "" {
			c <- fmt.Errorf("outputs on %s: %s", ses.node, m.Error)
		}
		close(c)
	}
}

// leave forgets a worker that answers no more. What it wrote is in the hands of its
// machine's kernel.
func (o *outputs) leave(ses *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.told, ses)
	if c := o.asked[ses]; c != nil {
		delete(o.asked, ses)
		close(c)
	}
}

// sync asks the workers that told of outputs to make them durable, waits for their answers
// and calls then. Outputs that cannot be made durable are an error and keep nothing back.
func (o *outputs) sync(then func() error) error {
	o.one.Lock()
	defer o.one.Unlock()
	errs := o.await(o.ask())
	errs = append(errs, then())
	// Records of outputs that were told meanwhile may be durable now, too. They are not left
	// ahead of their outputs until the next time.
	return errors.Join(append(errs, o.await(o.ask())...)...)
}

// ask begins a round.
func (o *outputs) ask() map[job.NodeID]chan error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.round++
	clear(o.asked) // who has not answered in time
	answers := make(map[job.NodeID]chan error, len(o.told))
	for ses := range o.told {
		c := make(chan error, 1)
		o.asked[ses], answers[ses.node] = c, c
		if ses.conn.Send(&wire.Sync{N: o.round}) != nil { // its reader ends, and leave is called
			delete(o.asked, ses)
			close(c)
		}
	}
	clear(o.told)
	return answers
}

// await waits for the answers.
func (o *outputs) await(answers map[job.NodeID]chan error) (errs []error) {
	timeout := time.NewTimer(o.patience)
	defer timeout.Stop()
	for node, c := range answers {
		select {
		case err := <-c: // nil where c was closed
			errs = append(errs, err)
		case <-timeout.C:
			return append(errs, fmt.Errorf("outputs on %s do not come to their disk", node))
		}
	}
	return errs
}

// makeDurable makes what was appended to journals survive a loss of power, and before that
// the outputs that the records speak of. It is called beside the loop.
func (s *Server) makeDurable() {
	if err := s.outputs.sync(s.journals.SyncDirty); err != nil {
		s.log.Error("journals or outputs cannot be synced", "err", err)
	}
}
