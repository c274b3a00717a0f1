package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// mixed are the jobs of the mix: one that computes, one that moves data, one with little of both,
// and one with much output.
var mixed = []string{"sort", "combiner", "webdatascan", "classification"}

// ours and today are the schedulers that the mix compares.
const ours, today = "phases", "cores"

// mix runs four jobs at once on this machine without limits, alternately under both schedulers. The
// cluster is idle meanwhile. As part of the cluster's control group we have priority over other
// programs.
func (b *bench) mix(ctx context.Context, res *results) error {
	fmt.Fprintln(os.Stderr, "four jobs at once on this machine")
	if err := b.generate(ctx, slices.DeleteFunc(slices.Clone(mixed), b.generated)); err != nil {
		return err
	}
	if err := b.learn(ctx, mixed, nil); err != nil {
		return err
	}
	for rep := range 2 * b.Repeat { // the runs are short, and a machine without limits is noisy
		order := []string{ours, today}
		if rep%2 == 1 {
			slices.Reverse(order)
		}
		for _, scheduler := range order {
			s, err := b.serve(ctx, scheduler, nil)
			if err != nil {
				return err
			}
			err = s.warm(ctx)
			if err == nil {
				err = b.put(res, rep/2, s.report(s.run(ctx, run{Scheduler: scheduler, Part: mix, Repeat: rep}, mixed)))
			}
			if stop := s.stop(); err == nil {
				err = stop
			}
			if err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// generated reports whether a job's input exists.
func (b *bench) generated(name string) bool {
	_, err := os.Stat(filepath.Join(b.input, name))
	return err == nil
}
