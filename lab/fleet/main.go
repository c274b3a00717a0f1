package main

import (
	"context"
	"encoding/json"
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
	berth       string
	json, quick bool
	up          int
	down        bool
	seconds     float64
}

func flags() *options {
	o := &options{Run: page.Flags("fleet", "fleet", 0)}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.BoolVar(&o.json, "json", false, "print all measurements as JSON")
	flag.BoolVar(&o.quick, "quick", false, "three machines, and two configurations and points")
	flag.Float64Var(&o.seconds, "seconds", 15, "desired length of a run, in seconds")
	flag.IntVar(&o.up, "up", 0, "only start this number of machines, which stay and share this machine's files")
	flag.BoolVar(&o.down, "down", false, "only end those machines")
	flag.Parse()
	return o
}

func main() {
	o := flags()
	do := o.measure
	if o.up > 0 {
		do = o.start
	}
	if o.down {
		do = func(context.Context) (string, error) { return "", fleet.CloseKept() }
	}
	o.Main(do)
}

// start starts machines that stay, and returns the line by which a shell reaches them.
func (o *options) start(context.Context) (string, error) {
	f, err := fleet.New(fleet.Options{})
	if err != nil {
		return "", err
	}
	for i := range o.up {
		if _, err := f.Boot(fleet.Machine{Name: fmt.Sprintf("h%d", i+1)}); err != nil {
			return "", errors.Join(err, f.Close())
		}
	}
	return fmt.Sprintf("export BERTH_SSH='%s'\n", f.Command), f.Keep()
}

// measure starts the machines, makes all runs, and returns the tables.
func (o *options) measure(ctx context.Context) (_ string, err error) {
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return "", err
	}
	b, err := newBench(ctx, o, rented(o.quick))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	res, err := b.experiment(ctx)
	if err != nil {
		return "", err
	}
	if o.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return "", e.Encode(res)
	}
	return res.text(), nil
}
