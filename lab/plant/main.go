package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, only, find     string
	workers               int
	plain, overhead, bags bool
	mutate                int
	seed                  uint64
	first                 string
	bound                 time.Duration
}

func flags() *options {
	o := &options{Run: page.Flags("trace", "safety", 3)}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.only, "only", "", "names of programs or cases, with commas between; empty: all")
	flag.StringVar(&o.find, "find", "", "name of a case: find the functions whose planting makes it fail")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "number of simultaneous cases")
	flag.BoolVar(&o.plain, "plain", false, "plant nothing: list the cases whose runs differ without planting")
	flag.BoolVar(&o.overhead, "overhead", false, "measure the cost of planted functions instead")
	flag.BoolVar(&o.bags, "bags", false, "run the cases as tasks of two bags instead, with --progress hits and without")
	flag.IntVar(&o.mutate, "mutate", 0, "run so many damaged programs in two such bags instead; not as root")
	flag.StringVar(&o.first, "first", "10.5", "how long the task of the first bag takes, in seconds: functions are counted where 10 s are expected")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the damage")
	flag.DurationVar(&o.bound, "bound", 3*time.Minute, "limit after which a command counts as not ending")
	flag.Parse()
	switch {
	case o.overhead:
		o.Table = "overhead"
	case o.bags:
		o.Table = "bags"
	}
	return o
}

func main() {
	o := flags()
	o.Main(o.do)
}

// errFailed is the error for runs that differ.
var errFailed = errors.New("planting changes what programs do")

func (o *options) do(ctx context.Context) (string, error) {
	cases, err := parseCases(casesText)
	if err != nil {
		return "", err
	}
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "trace-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("PATH", searched); err != nil { // programs are looked up in these folders
		return "", err
	}
	switch {
	case o.find != "":
		return "", o.search(ctx, dir, cases)
	case o.overhead:
		return o.measure(ctx, dir)
	case o.bags:
		t, err := o.inBags(ctx, dir, o.chosen(cases))
		if t == nil {
			return "", err
		}
		return t.String(), errors.Join(err, t.judged())
	case o.mutate > 0:
		s, err := o.mutants(ctx, dir)
		return fmt.Sprint(s), err
	}
	t, err := o.perform(ctx, dir, o.chosen(cases))
	if t == nil {
		return "", err
	}
	return t.String(), errors.Join(err, t.judged()) // also the results so far if it was interrupted
}

// judged returns an error if runs differ.
func (t *tally) judged() error {
	if t.crashes+t.differences > 0 {
		return errFailed
	}
	return nil
}

// chosen returns the cases named by -only.
func (o *options) chosen(cases []testCase) []testCase {
	if o.only == "" {
		return cases
	}
	names := strings.Split(o.only, ",")
	return slices.DeleteFunc(cases, func(c testCase) bool {
		return !slices.Contains(names, c.name) && !slices.Contains(names, c.program)
	})
}

// newBench creates a worker's folder.
func (o *options) newBench(dir, name string) (*bench, error) {
	all, err := inputs()
	b := &bench{berth: o.berth, dir: filepath.Join(dir, name), inputs: all, bound: o.bound}
	return b, errors.Join(err, os.Mkdir(b.dir, 0o755))
}

// perform runs all cases and reports failures immediately.
func (o *options) perform(ctx context.Context, dir string, cases []testCase) (*tally, error) {
	t := newTally()
	work, over := make(chan *testCase), make(chan error, o.workers)
	for i := range o.workers {
		b, err := o.newBench(dir, fmt.Sprint("w", i))
		if err != nil {
			return nil, err
		}
		go func() {
			var err error
			for c := range work {
				if err == nil {
					err = o.trial(ctx, b, c, t)
				}
			}
			over <- err
		}()
	}
	for i := range cases {
		work <- &cases[i]
	}
	close(work)
	var err error
	for range o.workers {
		err = errors.Join(err, <-over)
	}
	return t, err
}

// trial runs a case twice unchanged and then planted, and compares.
func (o *options) trial(ctx context.Context, b *bench, c *testCase, t *tally) error {
	if !t.present(c) {
		return nil
	}
	want, err := b.run(ctx, c, nil)
	if err != nil {
		return err
	}
	again, err := b.run(ctx, c, nil)
	if err != nil {
		return err
	}
	if o.plain {
		c.show(want)
	}
	if found := compare(c, want, again); len(found) > 0 {
		t.unsteady(c, found)
		return ctx.Err()
	}
	for i := 0; i < o.Repeat && !o.plain; i++ {
		got, err := b.run(ctx, c, &all)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.assess(c, compare(c, want, got))
		if i == 0 {
			t.count(c, got)
		}
	}
	return ctx.Err()
}

// present records the programs of a case, and returns whether all are installed.
func (t *tally) present(c *testCase) bool {
	t.Lock()
	defer t.Unlock()
	var paths []string
	for _, o := range c.commands {
		if strings.HasPrefix(o.args[0], "./") {
			continue
		}
		path, err := exec.LookPath(o.args[0])
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			fmt.Printf("%s: %s is not installed (%s)\n", c.name, o.args[0], strings.Join(c.packages, " "))
			t.absent[o.args[0]] = true
			return false
		}
		paths = append(paths, path)
	}
	for _, p := range paths {
		t.programs[p] = true
	}
	t.cases++
	return true
}
