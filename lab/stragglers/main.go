package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/lab/page"
	"berth/lab/rules"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, source         string
	only, chosen, flagsOf string
	jobs                  []example
	rules, extra          []string
	nodes, tasks          int
	work, cores           float64
	slow                  int
	seed, progress        string
	quick                 bool
	bound                 time.Duration
}

func flags() *options {
	o := &options{Run: page.Flags("stragglers", "rules-measured", 3).Keeps()}
	flag.StringVar(&o.berth, "berth", "", "the program under test; if empty, it is built")
	flag.StringVar(&o.source, "examples", "examples", "the folder with the jobs blur and assembly")
	flag.StringVar(&o.only, "only", "", "names of jobs, with commas between; empty: all")
	flag.StringVar(&o.chosen, "rules", "", "names of rules, with commas between; empty: all")
	flag.StringVar(&o.flagsOf, "flags", "", "further flags of berth run, with spaces between")
	flag.IntVar(&o.nodes, "nodes", 10, "workers, each of them a node")
	flag.IntVar(&o.tasks, "tasks", 8, "tasks of a job; for blur a multiple of four")
	flag.Float64Var(&o.work, "work", 4, "CPU seconds of a task")
	flag.Float64Var(&o.cores, "cores", 0, "cores of a node; 0: all nodes together have 60 % of this machine's")
	flag.IntVar(&o.slow, "slow", 1, "tasks whose nodes become slow in a turn")
	flag.StringVar(&o.seed, "seed", "1", "seed of the moments at which nodes become slow")
	flag.StringVar(&o.progress, "progress", "auto", "the source by which the progress of tasks is measured, as --progress of berth bag")
	flag.BoolVar(&o.quick, "quick", false, "one turn of three rules on one job with shorter tasks")
	flag.DurationVar(&o.bound, "bound", 15*time.Minute, "limit after which a job is aborted")
	flag.Parse()
	if o.quick {
		o.Repeat, o.work = 1, o.work/2
		if o.chosen == "" {
			o.chosen = "nothing,paper,berth"
		}
		if o.only == "" {
			o.only = "assembly"
		}
	}
	if o.cores == 0 {
		o.cores = 0.6 * float64(runtime.NumCPU()) / float64(o.nodes)
	}
	o.extra = strings.Fields(o.flagsOf)
	return o
}

func main() {
	o := flags()
	o.Main(o.measure)
}

// measure makes the requested runs and returns the tables.
func (o *options) measure(ctx context.Context) (string, error) {
	if err := o.choose(); err != nil {
		return "", err
	}
	res, err := openResults(o.Out)
	if err != nil {
		return "", err
	}
	if !o.TableOnly {
		if err := perform(ctx, o, res); err != nil {
			return "", err
		}
	}
	return tables(res), nil
}

// choose parses the flags that contain names.
func (o *options) choose() error {
	o.rules = rules.Names(rules.All())
	if o.chosen != "" {
		o.rules = strings.Split(o.chosen, ",")
	}
	for _, name := range o.rules {
		if _, err := straggler.RuleNamed("-rules", name, rules.All()); err != nil {
			return err
		}
	}
	if _, err := job.ProgressNamed(o.progress); err != nil {
		return fmt.Errorf("-progress: %w", err)
	}
	o.jobs = examples
	if o.only != "" {
		o.jobs = nil
		for _, name := range strings.Split(o.only, ",") {
			i := slices.IndexFunc(examples, func(e example) bool { return e.name == name })
			if i < 0 {
				return fmt.Errorf("-only: there is no job %q", name)
			}
			o.jobs = append(o.jobs, examples[i])
		}
	}
	return nil
}

// perform creates the nodes, makes all runs, and removes everything.
func perform(ctx context.Context, o *options, res *results) error {
	if os.Geteuid() != 0 {
		return errors.New("nodes are control groups: run this as root")
	}
	dir, err := os.MkdirTemp("", "bs-") // short, because paths of Unix sockets lie below it
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{options: o, dir: dir}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if b.groups, err = newGroups(o.nodes, o.cores); err != nil {
		return err
	}
	defer b.groups.remove()
	res.Nodes, res.Cores, res.Tasks, res.Work, res.Slow, res.Machine, res.Progress = o.nodes, o.cores, o.tasks, o.work, o.slow, runtime.NumCPU(), o.progress
	fmt.Fprintln(os.Stderr, "each job twice, without slow nodes")
	if err := b.learn(ctx); err != nil {
		return err
	}
	return b.turns(ctx, res)
}

// prepare copies the programs under test, so that changes to the originals disturb no run, and
// generates the input.
func (b *bench) prepare(ctx context.Context) error {
	program := filepath.Join(b.dir, "berth")
	if b.berth == "" {
		build := exec.CommandContext(ctx, "go", "build", "-o", program, "berth/cmd/berth-lab")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	} else if err := copyFile(program, b.berth); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(b.dir, "examples"), os.DirFS(b.source)); err != nil {
		return err
	}
	b.berth, b.source = program, filepath.Join(b.dir, "examples")
	for _, e := range b.jobs {
		cmd := exec.CommandContext(ctx, filepath.Join(b.source, e.name, "generate"), append([]string{e.name + ".in", "--seed", b.seed}, e.generate(b.options)...)...)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("generate %s: %w: %s", e.name, err, out)
		}
	}
	return nil
}

// tileSide returns the side length in pixels of a tile whose blur takes about work CPU seconds: 7.6
// µs for each pixel with a radius of 36, by which the tile is enlarged on all sides.
func tileSide(work float64) float64 { return math.Max(50, math.Sqrt(work/7.6e-6)-72) }

// turns runs all rules alternately on each job: one after the other with the same slow nodes, and
// each turn begins with another rule.
func (b *bench) turns(ctx context.Context, res *results) error {
	for repeat := range b.Repeat {
		for _, e := range b.jobs {
			seed := fmt.Sprintf("%s/%s/%d", b.seed, e.name, repeat)
			for i := range b.rules {
				rule := b.rules[(i+repeat)%len(b.rules)]
				if res.has(e.name, rule, repeat) {
					continue
				}
				r := b.measure(ctx, e, rule, repeat, episodes(seed, b.slow, b.tasks, b.work/b.cores))
				if ctx.Err() != nil {
					return ctx.Err()
				}
				fmt.Fprintf(os.Stderr, "%s %d: %-11s %6.1f s, %6.1f CPU s, %d attempts of %d tasks, %d killed %s\n",
					e.name, repeat, rule, r.Completion, r.CPU, r.Attempts, r.Tasks, r.Killed, r.Error)
				b.Turn(repeat)
				if err := res.add(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
