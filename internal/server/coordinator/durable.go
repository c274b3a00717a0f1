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

	mu   sync.Mutex         // guards what follows
	told map[*session]bool  // workers that told of outputs since they were asked
	last int64              // number of the last question
	open map[int64]question // those without an answer
}

func newOutputs() *outputs {
	return &outputs{patience: outputPatience, told: make(map[*session]bool), open: make(map[int64]question)}
}

// tell notes that a worker has put the output of a task into place.
func (o *outputs) tell(ses *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told[ses] = true
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

// ask asks the workers that told of outputs.
func (o *outputs) ask() map[job.NodeID]chan wire.Message {
	o.mu.Lock()
	told := o.told
	o.told = make(map[*session]bool)
	o.mu.Unlock()
	answers := make(map[job.NodeID]chan wire.Message, len(told))
	for ses := range told {
		n, answer := o.begin(ses)
		answers[ses.node] = answer
		if ses.conn.Send(&wire.Sync{N: n}) != nil { // its connection has ended
			o.leave(ses)
		}
	}
	return answers
}

// await waits for the answers.
func (o *outputs) await(answers map[job.NodeID]chan wire.Message) (errs []error) {
	timeout := time.After(o.patience)
	defer func() {
		for _, c := range answers {
			o.end(c)
		}
	}()
	for node, c := range answers {
		select {
		case m := <-c: // nil where the worker is gone
			if said, ok := m.(*wire.Synced); ok && said.Error != "" {
				errs = append(errs, fmt.Errorf("outputs on %s: %s", node, said.Error))
			}
		case <-timeout:
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
