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
	berth, python, script, venv, only string
	short, long, calls                int
	bound                             time.Duration
}

func main() {
	o := options{Run: page.Flags("engines", "engines", 1).Keeps()}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.python, "python", "python/src", "folder with berth's package for Python")
	flag.StringVar(&o.script, "slurm", "scripts/slurm.sh", "the script that starts the cluster")
	flag.StringVar(&o.venv, "venv", "", "the folder with the engines that scripts/doors.sh compare prints")
	flag.StringVar(&o.only, "only", "snakemake,nextflow,maps", "what is compared, with commas")
	flag.IntVar(&o.short, "short", 500, "jobs of a second in the workflow of three layers")
	flag.IntVar(&o.long, "long", 60, "jobs of 5 to 60 s in the workflow of one layer")
	flag.IntVar(&o.calls, "calls", 10000, "calls of a map")
	flag.DurationVar(&o.bound, "bound", time.Hour, "limit after which a workflow is aborted")
	flag.Parse()
	o.Main(o.compare)
}

// compare makes the runs, draws the figure, and returns the tables.
func (o options) compare(ctx context.Context) (_ string, err error) {
	for _, path := range []*string{&o.berth, &o.python, &o.script, &o.venv} {
		if *path, err = filepath.Abs(*path); err != nil {
			return "", err
		}
	}
	res, err := openResults(o.Out)
	if err != nil {
		return "", err
	}
	if !o.TableOnly {
		if err := run(ctx, o, res); err != nil {
			return "", err
		}
	}
	if o.Docs == "" {
		return res.tables(), nil
	}
	svg, err := res.figure().SVG()
	if err != nil {
		return "", err
	}
	return res.tables(), os.WriteFile(strings.TrimSuffix(o.Docs, ".md")+".svg", svg, 0o644)
}

// run makes the runs.
func run(ctx context.Context, o options, res *results) error {
	what := strings.Split(o.only, ",")
	b := &bench{options: o, res: res}
	for r := range o.Repeat {
		done := slices.ContainsFunc(res.all, func(m measurement) bool { return m.Engine == "maps" && m.Repetition == r })
		if slices.Contains(what, "maps") && !done {
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
	for r := range o.Repeat {
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
