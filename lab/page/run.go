package page

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Run is one call of a command of the laboratory: the flags that all of them have, and its table.
type Run struct {
	Name      string // of the command, for messages and for the folder of results
	Table     string // the table in the page
	Docs      string // -docs: the page, or empty
	Out       string // -out: the folder of results; empty for a command that keeps none
	TableOnly bool   // -table: nothing is run
	Repeat    int    // -repeat; a command that has more or fewer results sets it

	keeps  bool
	origin Origin // of what this call measures
}

// Flags adds the flags of a command that measures its table in one go; it has -repeat if repeat is positive. The caller
// parses.
func Flags(name, table string, repeat int) *Run {
	r := &Run{Name: name, Table: table, Repeat: max(1, repeat)}
	flag.StringVar(&r.Docs, "docs", "", "document whose table is replaced; figures are written to its folder")
	if repeat > 0 {
		flag.IntVar(&r.Repeat, "repeat", repeat, "repetitions")
	}
	return r
}

// Keeps adds the flags of a command that goes on with the results of earlier calls.
func (r *Run) Keeps() *Run {
	r.keeps = true
	flag.StringVar(&r.Out, "out", "", "folder for results, to which new ones are added; if empty, a new folder")
	flag.BoolVar(&r.TableOnly, "table", false, "print the table of the existing results and run nothing")
	return r
}

// Turn notes that there is a new result of a turn, counted from 0. A command that keeps results calls it for each: the line
// above the table says which turns are of which commit, and names no call that made no result.
func (r *Run) Turn(n int) {
	if r.origin.To == 0 {
		r.origin.From = n + 1
	}
	r.origin.From, r.origin.To = min(r.origin.From, n+1), max(r.origin.To, n+1)
}

// Main measures until it is done or a signal ends it, prints the table that measure returns, puts it into the page with its
// origin, and ends the program with 1 after an error.
func (r *Run) Main(measure func(context.Context) (string, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.do(ctx, measure); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", r.Name, err)
		os.Exit(1)
	}
}

func (r *Run) do(ctx context.Context, measure func(context.Context) (string, error)) error {
	if r.Docs != "" {
		if err := r.table().Check(); err != nil { // reported now rather than after an hour
			return err
		}
	}
	if err := r.folder(); err != nil {
		return err
	}
	text, origins, err := r.measured(ctx, measure)
	if text != "" {
		fmt.Print(text) // also what there is if it was interrupted
	}
	if err != nil {
		return err
	}
	if r.keeps {
		fmt.Fprintln(os.Stderr, "all measurements are in", r.Out)
	}
	if r.Docs == "" || text == "" {
		return nil
	}
	return r.table().Replace(describe(origins, r.Repeat) + text)
}

func (r *Run) table() Table { return Table{File: r.Docs, Name: r.Table} }

// folder creates the folder of results.
func (r *Run) folder() (err error) {
	if !r.keeps {
		return nil
	}
	if r.Out == "" {
		r.Out, err = os.MkdirTemp("", r.Name+"-")
	}
	if err == nil {
		r.Out, err = filepath.Abs(r.Out)
	}
	return errors.Join(err, os.MkdirAll(r.Out, 0o755))
}

// measured measures and watches the load meanwhile. It returns the text and the origins of all results in the folder; they
// are also kept if the measurement failed, as a part of its results may be there.
func (r *Run) measured(ctx context.Context, measure func(context.Context) (string, error)) (string, []Origin, error) {
	var all []Origin
	if r.keeps {
		var err error
		if all, err = readOrigins(r.Out); err != nil {
			return "", nil, err
		}
	}
	if r.TableOnly {
		text, err := measure(ctx)
		return text, all, err
	}
	r.origin = now()
	if r.keeps { // now, too, as it may be killed
		if err := writeOrigins(r.Out, append(all, r.origin)); err != nil {
			return "", nil, err
		}
	}
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		r.origin.Load.watch(stop)
		close(over)
	}()
	text, err := measure(ctx)
	close(stop)
	<-over
	if r.origin.To > 0 || !r.keeps {
		all = append(all, r.origin)
	}
	if r.keeps {
		err = errors.Join(err, writeOrigins(r.Out, all))
	}
	return text, all, err
}
