package main

import (
	"context"
	"fmt"
	"time"
)

// settle is the time from the start of the others' last job to the submission of the job
// under test: Slurm has planned the waiting ones by then, and it is the same in every run.
const settle = 6 * time.Second

// prepare makes a fresh cluster into the situation. When it returns, the job is to be submitted.
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
	err = c.await(ctx, "the others' jobs to run", func(fills, _ []allocation) bool { return count(fills, "RUNNING") == n })
	if err != nil {
		return err
	}
	ready := time.Now().Add(settle)
	if err := submitAll(ctx, c, waiting); err != nil {
		return err
	}
	if n > 0 && !pause(ctx, time.Until(ready)) {
		return ctx.Err()
	}
	fills, _, err := c.jobs(ctx)
	if err == nil && (count(fills, "RUNNING") != n || count(fills, "PENDING") != copies(waiting)) {
		err = fmt.Errorf("situation %s is not as the script says: %v", s.name, fills)
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

// arrive submits the later jobs at their times after begun. The channel has its error
// once, when all are there or ctx has ended.
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
