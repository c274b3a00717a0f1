package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	berth, docs, dir string
	workers          int
	tasks, many      int
	task             time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.docs, "docs", "", "document whose table is replaced")
	flag.StringVar(&o.dir, "dir", "", "an empty folder that stays afterwards, with the state and logs; if empty, a folder that is removed")
	flag.IntVar(&o.workers, "workers", 2000, "number of workers")
	flag.IntVar(&o.tasks, "tasks", 300_000, "number of tasks of the bag in which tasks a second are measured")
	flag.IntVar(&o.many, "many", 10_000_000, "number of tasks of the large bag")
	flag.DurationVar(&o.task, "task", 50*time.Millisecond, "duration of a task")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// measure makes all measurements on one coordinator, and prints the table.
func measure(ctx context.Context, o options) (err error) {
	table := page.Table{File: o.docs, Name: "load"}
	if o.docs != "" {
		if err := table.Check(); err != nil {
			return err
		}
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "load-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }()
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return err
	}
	b, err := setUp(ctx, o)
	if err != nil {
		return err
	}
	defer b.tearDown()
	var rows []row
	for _, part := range []func(*bed) ([]row, error){connect, throughput, recovery, browse, large} {
		more, err := part(b)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	text := text(o, rows)
	fmt.Print(text)
	if o.docs == "" {
		return nil
	}
	return table.Replace(text)
}
