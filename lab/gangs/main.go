package main

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, script, hq, only string
	gangs, small            int
	mean                    time.Duration
}

func main() {
	o := options{Run: page.Flags("gangs", "gangs", 3).Keeps()}
	flag.StringVar(&o.berth, "berth", "bin/berth", "the program under test")
	flag.StringVar(&o.script, "slurm", "scripts/slurm.sh", "the script that starts the cluster")
	flag.StringVar(&o.hq, "hq", "bin/hyperqueue-0.27.0", "folder with HyperQueue's package for Python")
	flag.StringVar(&o.only, "only", "", "the sides that run, with commas; if empty, all")
	flag.IntVar(&o.gangs, "gangs", 60, "number of gangs")
	flag.IntVar(&o.small, "small", 2000, "number of tasks of one core")
	flag.DurationVar(&o.mean, "mean", 2*time.Second, "how long a small task sleeps on average; a gang sleeps twice as long")
	flag.Parse()
	o.Main(o.compare)
}

// compare makes the runs that have no result yet, and returns the table.
func (o options) compare(ctx context.Context) (_ string, err error) {
	for _, path := range []*string{&o.berth, &o.script, &o.hq} {
		if *path, err = filepath.Abs(*path); err != nil {
			return "", err
		}
	}
	res, err := openResults(o.Out)
	if err != nil {
		return "", err
	}
	if o.TableOnly {
		return res.table(), nil
	}
	b := &bench{options: o, res: res}
	if err := b.up(ctx); err != nil {
		return "", err
	}
	defer b.down()
	for r := range o.Repeat {
		for i := range sides {
			side := (r + i) % len(sides)
			if o.only != "" && !slices.Contains(strings.Split(o.only, ","), sides[side].name) {
				continue
			}
			if err := b.run(ctx, side, r); err != nil {
				return res.table(), err
			}
		}
	}
	return res.table(), nil
}
