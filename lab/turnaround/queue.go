package main

import (
	"context"
	"fmt"
	"time"
)

// planTime is the time from the start of the last job of other users to the submission of the job
// under test. Slurm plans the waiting jobs in this time, and it is the same in every run.
const planTime = 6 * time.Second

// prepare brings a fresh cluster into the situation. When it returns, the job can be submitted.
func prepare(ctx context.Context, c *cluster, s *situation) error {
	running, waiting, _, err := s.fills()
	if err != nil {
		return err
	}
	if err := c.drain(ctx, s.drained); err != nil {
		return err
	}
	if err := submitAll(ctx, c, running); err != nil {
		return err
	}
	n := copies(running)
	err = c.await(ctx, "the jobs of other users to run", func(fills, _ []allocation) bool { return count(fills, "RUNNING") == n })
	if err != nil {
		return err
	}
	ready := time.Now().Add(planTime)
	if err := submitAll(ctx, c, waiting); err != nil {
		return err
	}
	if n > 0 && !pause(ctx, time.Until(ready)) {
		return ctx.Err()
	}
	fills, _, err := c.jobs(ctx)
	if err == nil && !s.drawn && (count(fills, "RUNNING") != n || count(fills, "PENDING") != copies(waiting)) {
		err = fmt.Errorf("situation %s differs from the script: %v", s.name, fills)
	}
	return err
}

func submitAll(ctx context.Context, c *cluster, fills []fill) error {
	for _, f := range fills {
		if err := c.submit(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func copies(fills []fill) int {
	n := 0
	for _, f := range fills {
		n += f.copies
	}
	return n
}

func count(jobs []allocation, state string) int {
	n := 0
	for _, j := range jobs {
		if j.State == state {
			n++
		}
	}
	return n
}

// arrive submits the later jobs at their times after begun. The channel gets its error when all are
// submitted or ctx has ended.
func arrive(ctx context.Context, c *cluster, later []fill, begun time.Time) <-chan error {
	done := make(chan error, 1)
	go func() {
		for _, f := range later {
			if !pause(ctx, time.Until(begun.Add(f.at))) {
				break
			}
			if err := c.submit(ctx, f); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}
