package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
)

const (
	// wakeLook is the interval at which a waiting stand-in checks whether there is a coordinator. It must find none
	// several times in a row, because there is a short time without one between two coordinators.
	wakeLook  = 2 * time.Second
	wakeLooks = 3
	// wakeSilence is how long a lock counts as held although its owner does not renew its owner file: the machine may
	// have died without releasing its locks, or the process may be stopped. A process that is continued later finds
	// that it is no longer the owner (Ownership).
	wakeSilence = 5 * time.Minute
)

// Await waits until there is no coordinator.
func (s Seat) Await(ctx context.Context, log *slog.Logger) error {
	var last *Owner
	free, silent := 0, time.Duration(0)
	for free < wakeLooks {
		o := s.look()
		held, err := s.held()
		switch {
		case !held || err != nil:
			free++
		case o == nil || last == nil || *o != *last:
			free, silent = 0, 0
		default:
			free, silent = 0, silent+wakeLook
		}
		if last = o; silent >= wakeSilence {
			log.Warn("the coordinator has its lock but has not renewed its file for too long; its lock is removed", "host", o.Host, "pid", o.PID)
			if now := s.look(); now != nil && *now == *o { // if it still lives, it finds another owner before it writes anything (Ownership.Confirm)
				if err := remove(s.home.Lock()); err != nil {
					return err
				}
			}
			silent = 0
		}
		select {
		case <-time.After(wakeLook):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

const (
	// takeOverTime is the longest wait for a stand-in to end, askEvery the interval at which it is asked to.
	takeOverTime = 90 * time.Second
	askEvery     = time.Second
)

// Claim is the attempt of a process to replace a stand-in.
type Claim struct {
	seat  Seat
	until time.Time // the end of the wait
	asked time.Time // when the stand-in was last asked to end; zero: never
}

// Claim returns a claim that waits for this time, or for takeOverTime after the stand-in was first asked to end.
func (s Seat) Claim(patience time.Duration) *Claim {
	return &Claim{seat: s, until: time.Now().Add(patience)}
}

// Late reports whether the wait is over.
func (c *Claim) Late() bool { return time.Now().After(c.until) }

// Blocked reports whether err, the error of Take, says that a stand-in is the coordinator.
func (c *Claim) Blocked(err error) bool {
	var there *ElsewhereError
	if errors.As(err, &there) {
		return there.Owner.StandIn
	}
	o := c.seat.Owner()
	return errors.Is(err, ErrTaken) && o != nil && o.StandIn
}

// Ask asks the stand-in to end, and repeats that each second, because a stand-in that is just starting forgets earlier
// requests.
func (c *Claim) Ask() error {
	now := time.Now()
	if c.asked.IsZero() {
		c.until = now.Add(takeOverTime)
	}
	if now.Sub(c.asked) < askEvery {
		return nil
	}
	c.asked = now
	return c.seat.ask()
}

// Refused returns the error for a stand-in that does not end.
func (c *Claim) Refused() error {
	e := job.ConfigError("", fmt.Sprintf("the stand-in coordinator has not made way for %v", takeOverTime),
		"end its batch job with "+registry.Each(func(w driver.BatchWords) string { return w.Cancel })+", then try again")
	if o := c.seat.Owner(); o != nil {
		e.Where = o.Host
	}
	return e
}
