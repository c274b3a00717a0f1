package driver

import (
	"berth/internal/step"
	"sync"
)

// Outbox hands a driver's reports to its Reporter, in the order of Put and with none of the
// driver's locks held: the Reporter may block until the coordinator takes the report, and the
// coordinator may be waiting for the driver meanwhile.
type Outbox struct {
	reporter Reporter

	mu     sync.Mutex // guards queued and closed
	queued []step.Input
	closed bool

	telling sync.Mutex // held while the Reporter is called, which keeps the order
}

// NewOutbox returns an empty outbox. Nothing is reported where the reporter is nil.
func NewOutbox(to Reporter) *Outbox { return &Outbox{reporter: to} }

// Put queues a report. It does not block, so a driver calls it with its lock held.
func (o *Outbox) Put(in step.Input) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && o.reporter != nil {
		o.queued = append(o.queued, in)
	}
}

// Flush returns when all that was queued before has been reported. A driver calls it
// after it has released its lock.
func (o *Outbox) Flush() {
	o.telling.Lock()
	defer o.telling.Unlock()
	for _, in := range o.take() {
		o.reporter(in)
	}
}

// Close drops what is queued. When it returns, nothing more is reported.
func (o *Outbox) Close() {
	o.mu.Lock()
	o.closed, o.queued = true, nil
	o.mu.Unlock()
	o.telling.Lock() // a report that is under way comes to its end
	defer o.telling.Unlock()
}

func (o *Outbox) take() []step.Input {
	o.mu.Lock()
	defer o.mu.Unlock()
	queued := o.queued
	o.queued = nil
	return queued
}
