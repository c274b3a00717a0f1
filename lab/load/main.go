package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, dir  string
	workers     int
	tasks, many int
	task        time.Duration
	only        string
}

func main() {
	o := options{Run: page.Flags("load", "load", 0)}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.dir, "dir", "", "an empty folder that stays afterwards, with the state and logs; if empty, a folder that is removed")
	flag.IntVar(&o.workers, "workers", 2000, "number of workers")
	flag.IntVar(&o.tasks, "tasks", 300_000, "number of tasks of the bag in which tasks a second are measured")
	flag.IntVar(&o.many, "many", 10_000_000, "number of tasks of the large bag")
	flag.DurationVar(&o.task, "task", 50*time.Millisecond, "duration of a task")
	flag.StringVar(&o.only, "only", "", "measure these parts alone, separated by commas, as to compare two programs in turns: workers, tasks, kill, page, large, streams, days")
	flag.Parse()
	o.Main(o.measure)
}

// measure makes all measurements on one coordinator, and returns the table.
func (o options) measure(ctx context.Context) (_ string, err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "load-"); err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(o.dir) }()
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return "", err
	}
	if o.berth, err = filepath.Abs(o.berth); err != nil {
		return "", err
	}
	b, err := setUp(ctx, o)
	if err != nil {
		return "", err
	}
	defer b.tearDown()
	var rows []row
	for _, part := range []struct {
		name    string
		measure func(*bed) ([]row, error)
	}{{"workers", connect}, {"tasks", throughput}, {"kill", recovery}, {"page", browse}, {"large", large}, {"streams", streams}, {"days", days}} {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), part.name) {
			continue
		}
		more, err := part.measure(b)
		if err != nil {
			return "", err
		}
		rows = append(rows, more...)
	}
	return text(o, rows), nil
}
