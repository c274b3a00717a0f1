package leader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/sys/statedir"
)

const (
	// wakeLook is how often a stand-in that waits looks whether anybody is left. It wants to
	// see nobody several times in a row: between two coordinators there is a moment without.
	wakeLook  = 2 * time.Second
	wakeLooks = 3
	// wakeSilence is how long the lock is believed to be held by somebody who does not say
	// that they are alive: a machine that died without giving its locks back, or a process
	// that was stopped. What that process would write later, it does not (Ownership).
	wakeSilence = 5 * time.Minute
)

// Await waits until there is no coordinator.
func (s Seat) Await(ctx context.Context, log *slog.Logger) error {
	var last *Owner
	free, silent := 0, time.Duration(0)
	for free < wakeLooks {
		o := s.Owner()
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
			if err := s.breakLock(*o); err != nil {
				return err
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

// breakLock lets others take the lock of an owner that was silent for long, as a machine that
// died may hold it for ever. The owner itself, should it live, sees another in its place before
// it writes anything (Ownership.Confirm).
func (s Seat) breakLock(silent Owner) error {
	if o := s.Owner(); o == nil || *o != silent {
		return nil
	}
	if err := os.Remove(s.home.Lock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return statedir.WriteError(s.home.Lock(), err)
	}
	return nil
}

const (
	// takeOverTime is how long a stand-in may take to end, askEvery how often it is asked to.
	takeOverTime = 90 * time.Second
	askEvery     = time.Second
)

// Claim is what a process does to get the place of a stand-in.
type Claim struct {
	seat  Seat
	until time.Time // the place is waited for no longer
	asked time.Time // when the stand-in was last asked; zero: it was not
}

// Claim returns a claim of one who waits for the place for so long, or for as long as a stand-in may take to end once it has
// been asked.
func (s Seat) Claim(patience time.Duration) *Claim {
	return &Claim{seat: s, until: time.Now().Add(patience)}
}

// Late reports whether the place is not to be waited for any longer.
func (c *Claim) Late() bool { return time.Now().After(c.until) }

// Blocked reports whether it is a stand-in that kept a coordinator from beginning, given the error of Take.
func (c *Claim) Blocked(err error) bool {
	var there *ElsewhereError
	if errors.As(err, &there) {
		return there.Owner.StandIn
	}
	o := c.seat.Owner()
	return errors.Is(err, ErrTaken) && o != nil && o.StandIn
}

// Ask asks the stand-in for its place, again each second: one that is just starting forgets what was asked before.
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

// Refused returns the error where a stand-in does not make way.
func (c *Claim) Refused() error {
	e := &job.Error{Class: job.User, Code: job.CodeConfig, What: fmt.Sprintf("the stand-in coordinator has not made way for %v", takeOverTime),
		Do: "end its batch job with " + registry.Each(func(w driver.BatchWords) string { return w.Cancel }) + ", then try again"}
	if o := c.seat.Owner(); o != nil {
		e.Where = o.Host
	}
	return e
}
