package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// tries is the number of runs with a part of the functions planted after which the part counts as
// harmless.
const tries = 3

// search narrows a failing case to the smallest range of hashes whose functions make it fail, by
// bisection, and prints these functions.
func (o *options) search(ctx context.Context, dir string, cases []testCase) error {
	o.only = o.find
	if cases = o.chosen(cases); len(cases) == 0 {
		return fmt.Errorf("%s: no such case", o.find)
	}
	b, err := o.newBench(dir, "find")
	if err != nil {
		return err
	}
	c := &cases[0]
	want, err := b.run(ctx, c, nil)
	if err != nil {
		return err
	}
	bad, found, err := b.fails(ctx, c, want, all)
	if err != nil {
		return err
	}
	if found == nil {
		return errors.New("the case does not fail")
	}
	for bad.hi-bad.lo > 1 && ctx.Err() == nil {
		middle := bad.lo + (bad.hi-bad.lo)/2
		for _, half := range []part{{bad.lo, middle}, {middle, bad.hi}} {
			if _, found, err = b.fails(ctx, c, want, half); err != nil {
				return err
			}
			if found != nil {
				bad = half
				break
			}
		}
		if found == nil {
			fmt.Println("only functions of both halves together make it fail")
			break
		}
	}
	return b.show(ctx, c, want, bad)
}

// fails returns the differences with a part planted, or nil.
func (b *bench) fails(ctx context.Context, c *testCase, want *outcome, p part) (part, []difference, error) {
	for range tries {
		got, err := b.run(ctx, c, &p)
		if err != nil {
			return p, nil, err
		}
		if found := compare(c, want, got); len(found) > 0 {
			return p, found, nil
		}
	}
	return p, nil, nil
}

// show prints the planted functions of a part and the resulting differences.
func (b *bench) show(ctx context.Context, c *testCase, want *outcome, p part) error {
	got, err := b.run(ctx, c, &p)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(p.command(b.berth, "FILE"), " "), c.name)
	for _, d := range compare(c, want, got) {
		fmt.Println(d.what)
	}
	for _, e := range got.commands {
		if e.stats == nil {
			continue
		}
		for _, f := range e.stats.Functions {
			fmt.Printf("%s %s: %d hits\n", f.Object, f.Name, f.Hits)
		}
	}
	return nil
}
