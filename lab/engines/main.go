package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	berth, python, script, venv, out, docs, only string
	short, long, calls, repeat                   int
	bound                                        time.Duration
	tableOnly                                    bool
}

func main() {
	var o options
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.python, "python", "python/src", "folder with berth's package for Python")
	flag.StringVar(&o.script, "slurm", "scripts/slurm.sh", "the script that starts the cluster")
	flag.StringVar(&o.venv, "venv", "", "the folder with the engines that scripts/doors.sh compare prints")
	flag.StringVar(&o.out, "out", "", "folder for results, to which new ones are added; if empty, a new folder")
	flag.StringVar(&o.docs, "docs", "", "document whose table is replaced; the figure is put beside it")
	flag.StringVar(&o.only, "only", "snakemake,nextflow,maps", "what is compared, with commas")
	flag.IntVar(&o.short, "short", 500, "jobs of a second in the workflow of three layers")
	flag.IntVar(&o.long, "long", 60, "jobs of 5 to 60 s in the workflow of one layer")
	flag.IntVar(&o.calls, "calls", 10000, "calls of a map")
	flag.IntVar(&o.repeat, "repeat", 1, "repetitions")
	flag.DurationVar(&o.bound, "bound", time.Hour, "limit after which a workflow is aborted")
	flag.BoolVar(&o.tableOnly, "table", false, "print the table of the existing results and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

// compare makes the runs and writes table and figure.
func compare(ctx context.Context, o options) (err error) {
	table := page.Table{File: o.docs, Name: "engines"}
	if o.docs != "" {
		if err := table.Check(); err != nil { // reported now rather than after an hour
			return err
		}
	}
	if o.out == "" {
		if o.out, err = os.MkdirTemp("", "engines-"); err != nil {
			return err
		}
	}
	for _, path := range []*string{&o.berth, &o.python, &o.script, &o.venv, &o.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	res, err := openResults(o.out)
	if err != nil {
		return err
	}
	if !o.tableOnly {
		if err := run(ctx, o, res); err != nil {
			return err
		}
	}
	text := res.tables()
	fmt.Print(text)
	if o.docs == "" {
		return nil
	}
	svg, err := res.figure().SVG()
	if err != nil {
		return err
	}
	if err := os.WriteFile(strings.TrimSuffix(o.docs, ".md")+".svg", svg, 0o644); err != nil {
		return err
	}
	return table.Replace(text)
}

// run makes the runs.
func run(ctx context.Context, o options, res *results) error {
	what := strings.Split(o.only, ",")
	b := &bench{options: o, res: res}
	for r := range o.repeat {
		if slices.Contains(what, "maps") {
			if err := b.maps(ctx, r); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(what, "snakemake") && !slices.Contains(what, "nextflow") {
		return nil
	}
	if err := b.up(ctx); err != nil {
		return err
	}
	defer b.down()
	for r := range o.repeat {
		for _, w := range b.workflows() {
			for _, e := range engines {
				if !slices.Contains(what, e.name) {
					continue
				}
				sides := slices.Clone(e.sides)
				if r%2 == 1 {
					sides = append(sides[1:], sides[0])
				}
				for _, s := range sides {
					if err := b.run(ctx, w, e, s, r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
