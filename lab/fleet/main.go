package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"berth/lab/page"
	"berth/test/support/fleet"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth   string
	quick   bool
	up      int
	down    bool
	sharing bool
	seconds float64
}

func flags() *options {
	o := &options{Run: page.Flags("fleet", "fleet", 3).Keeps()}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.BoolVar(&o.quick, "quick", false, "one turn with three machines, and two configurations and points")
	flag.Float64Var(&o.seconds, "seconds", 15, "desired length of a run, in seconds")
	flag.IntVar(&o.up, "up", 0, "only start this number of machines, which stay and share this machine's files")
	flag.BoolVar(&o.down, "down", false, "only end those machines")
	flag.BoolVar(&o.sharing, "shared", false, "only run bags whose tasks read the same files, and print what each machine was sent")
	flag.Parse()
	if o.quick {
		o.Repeat = 1
	}
	return o
}

func main() {
	o := flags()
	err := error(nil)
	switch {
	case o.up > 0:
		err = start(o.up)
	case o.down:
		err = fleet.CloseKept()
	case o.sharing:
		err = o.share(context.Background())
	default:
		o.Main(o.measure)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fleet: %v\n", err)
		os.Exit(1)
	}
}

// start starts machines that stay, and prints the line by which a shell reaches them.
func start(machines int) error {
	f, err := fleet.New(fleet.Options{})
	if err != nil {
		return err
	}
	for i := range machines {
		if _, err := f.Boot(fleet.Machine{Name: fmt.Sprintf("h%d", i+1)}); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	fmt.Printf("export BERTH_SSH='%s'\n", f.Command)
	return f.Keep()
}

// measure makes the turns that the folder of results does not have yet, and returns the tables of all.
func (o *options) measure(ctx context.Context) (_ string, err error) {
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return "", err
	}
	turns, err := readTurns(o.Out)
	for err == nil && !o.TableOnly && len(turns) < o.Repeat {
		var r *results
		if r, err = o.turn(ctx); err == nil {
			turns = append(turns, r)
			o.Turn(len(turns) - 1)
			err = r.write(o.Out, len(turns))
		}
	}
	if len(turns) == 0 {
		return "", err
	}
	return text(turns), err
}

// turn starts the machines, measures them anew, and makes all runs.
func (o *options) turn(ctx context.Context) (_ *results, err error) {
	b, err := newBench(ctx, o, machines(o.quick))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.experiment(ctx)
}
