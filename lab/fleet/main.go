package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"berth/lab/page"
	"berth/test/support/fleet"
)

// options are the command's flags.
type options struct {
	berth, docs string
	json, quick bool
	up          int
	down        bool
	seconds     float64
}

func flags() *options {
	o := &options{}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.docs, "docs", "", "document whose tables are replaced")
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := o.measure
	if o.up > 0 {
		do = o.start
	}
	if o.down {
		do = func(context.Context) error { return fleet.CloseKept() }
	}
	if err := do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// start starts machines that stay, and prints how to reach them.
func (o *options) start(context.Context) error {
	f, err := fleet.New(fleet.Options{})
	if err != nil {
		return err
	}
	for i := range o.up {
		if _, err := f.Boot(fleet.Machine{Name: fmt.Sprintf("h%d", i+1)}); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	fmt.Printf("export BERTH_SSH='%s'\n", f.Command)
	return f.Keep()
}

// measure starts the machines, makes all runs, and prints the tables.
func (o *options) measure(ctx context.Context) (err error) {
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return err
	}
	b, err := newBench(ctx, o, rented(o.quick))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	res, err := b.experiment(ctx)
	if err != nil {
		return err
	}
	if o.json {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(res)
	}
	text := res.text()
	fmt.Print(text)
	if o.docs == "" {
		return nil
	}
	return page.Table{File: o.docs, Name: "fleet"}.Replace(text)
}
