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
	"strings"
	"syscall"
	"time"
)

// options are the command's flags.
type options struct {
	tree, packages, in, report string
	seed                       uint64
	n                          int
	list, all                  bool
	limit                      time.Duration
}

func flags() *options {
	o := &options{}
	flag.StringVar(&o.tree, "tree", ".", "folder of the source")
	flag.StringVar(&o.packages, "packages", "engine,sched,plan,journal,process,extsort,transfer,wire,files",
		"packages to change, with commas between")
	flag.StringVar(&o.in, "in", "", "report of another run: repeat its mutants instead of drawing, and compare the outcomes")
	flag.BoolVar(&o.all, "all", false, "with -in, also repeat mutants that no test noticed")
	flag.StringVar(&o.report, "report", "", "file for the results, as JSON")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the draw")
	flag.IntVar(&o.n, "n", 60, "number of mutants")
	flag.BoolVar(&o.list, "list", false, "only print the mutants")
	flag.DurationVar(&o.limit, "limit", 10*time.Minute, "limit for the tests of one package")
	flag.Parse()
	return o
}

func main() {
	o := flags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func (o *options) do(ctx context.Context) (err error) {
	if o.tree, err = filepath.Abs(o.tree); err != nil {
		return err
	}
	t, err := openTree(ctx, o.tree)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "berth-mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	r := &runner{tree: t, scratch: scratch, limit: o.limit, clean: map[*pkg]*cleanRun{}}
	report := &Report{Seed: o.seed, Commit: t.commit, Packages: strings.Split(o.packages, ",")}
	var before *Report
	if o.in != "" {
		if before, err = readReport(o.in); err != nil {
			return err
		}
		report.Seed, report.Packages = before.Seed, before.Packages
		err = o.repeat(ctx, r, before, report)
	} else {
		err = o.draw(ctx, r, report)
	}
	if err != nil || o.list {
		return errors.Join(err, o.save(report))
	}
	printTable(os.Stdout, report)
	if before != nil {
		printDifference(os.Stdout, before, report)
	}
	return nil
}

// draw tries new mutants. A change that does not compile, or is no change for the tests' build, does not count.
func (o *options) draw(ctx context.Context, r *runner, report *Report) error {
	l, err := r.tree.newLottery(report.Packages, o.seed)
	if err != nil {
		return err
	}
	for empty := 0; len(report.Results) < o.n && empty < len(report.Packages); {
		s := l.draw()
		if s == nil {
			empty++
			l.advance()
			continue
		}
		if ok, err := r.compiles(ctx, s); err != nil {
			return err
		} else if !ok {
			continue
		}
		res, err := o.result(ctx, r, s)
		if err != nil {
			return err
		}
		if res.Outcome == Invalid {
			continue
		}
		empty = 0
		l.advance()
		if err := o.add(report, res); err != nil {
			return err
		}
	}
	return nil
}

// repeat tries the mutants of a former run: the tests that noticed a mutant first, which usually notice it again.
func (o *options) repeat(ctx context.Context, r *runner, before, report *Report) error {
	for _, old := range before.Results {
		res, err := o.again(ctx, r, old)
		if err != nil {
			return err
		}
		if err := o.add(report, res); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) again(ctx context.Context, r *runner, old Result) (Result, error) {
	if old.Outcome == Survived && !o.all {
		return Result{Mutant: old.Mutant, Outcome: Skipped}, nil
	}
	s, err := r.tree.find(old.Mutant)
	if s == nil || err != nil {
		return Result{Mutant: old.Mutant, Outcome: Gone}, err
	}
	res := Result{Mutant: old.Mutant, Outcome: Killed, Where: r.where(s), By: old.By}
	if !o.list {
		if same, err := r.sameKill(ctx, s, old.By); same || err != nil {
			return res, err
		}
	}
	res, err = o.result(ctx, r, s)
	res.Mutant = old.Mutant // the package may have another name now
	return res, err
}

func (o *options) result(ctx context.Context, r *runner, s *site) (Result, error) {
	if o.list {
		return Result{Mutant: s.Mutant, Where: r.where(s)}, nil
	}
	return r.try(ctx, s)
}

// add prints a result and saves the report, as the next result may take minutes.
func (o *options) add(report *Report, res Result) error {
	report.Results = append(report.Results, res)
	fmt.Printf("%3d %-8s %s\n", len(report.Results), res.Outcome, res.Mutant)
	if res.By != "" {
		fmt.Printf("    %s\n", res.By)
	}
	return o.save(report)
}

func (o *options) save(report *Report) error {
	if o.report == "" {
		return nil
	}
	b, err := json.MarshalIndent(report, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(o.report, append(b, '\n'), 0o644)
}

func readReport(path string) (*Report, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	if err := json.Unmarshal(b, report); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}
