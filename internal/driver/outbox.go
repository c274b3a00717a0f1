package driver

import (
	"berth/internal/core/step"
	"sync"
)

// Outbox passes a driver's reports to its Reporter, in the order of Put and without holding any of
// the driver's locks. The Reporter may block until the coordinator accepts the report, and the
// coordinator may be waiting for the driver at that time.
type Outbox struct {
	reporter Reporter

	mu     sync.Mutex // guards queued and closed
	queued []step.Input
	closed bool

	reporting sync.Mutex // held while the Reporter is called, so that the order is kept
}

// NewOutbox returns an empty outbox. If the reporter is nil, nothing is reported.
func NewOutbox(to Reporter) *Outbox { return &Outbox{reporter: to} }

// Put queues a report. It does not block, so a driver may hold its lock when it calls Put.
func (o *Outbox) Put(in step.Input) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && o.reporter != nil {
		o.queued = append(o.queued, in)
	}
}

// Flush returns when everything that was queued before has been reported. A driver calls it
// after it has released its lock.
func (o *Outbox) Flush() {
	o.reporting.Lock()
	defer o.reporting.Unlock()
	o.mu.Lock()
	queued := o.queued
	o.queued = nil
	o.mu.Unlock()
	for _, in := range queued {
		o.reporter(in)
	}
}

// Close drops the queued reports. After it has returned, nothing more is reported.
func (o *Outbox) Close() {
	o.mu.Lock()
	o.closed, o.queued = true, nil
	o.mu.Unlock()
	o.reporting.Lock() // wait for a report that is being made
	defer o.reporting.Unlock()
}
