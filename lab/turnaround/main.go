package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"berth/internal/simulate/batch"
	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, system, scripts, only, strategies, simulate string
	parallel, drawn, parted                            int
	seed                                               uint64
	bound                                              time.Duration
}

func main() {
	o := options{Run: page.Flags("turnaround", "", 1).Keeps()}
	flag.StringVar(&o.berth, "berth", "", "the program under test; if empty, it is built")
	flag.StringVar(&o.system, "system", "slurm", "the batch system: slurm, pbs or gridengine")
	flag.StringVar(&o.scripts, "scripts", "scripts", "folder of the scripts that start clusters")
	flag.StringVar(&o.only, "only", "", "names of situations to run again, with commas; if empty, all that have not been run yet")
	flag.StringVar(&o.strategies, "strategies", "", "likewise, of strategies: berth,a,b,c,d")
	flag.IntVar(&o.parallel, "parallel", 12, "number of simultaneous runs, each on its own cluster")
	flag.IntVar(&o.drawn, "drawn", 0, "number of situations that are drawn and played in place of those of the script")
	flag.Uint64Var(&o.seed, "seed", 1, "by which they are drawn")
	flag.IntVar(&o.parted, "parted", 3, "one of so many drawn situations has two to four partitions; 0: none. Only the simulator plays them")
	flag.StringVar(&o.simulate, "simulate", "", "play them in the simulator, with this policy: easy or cbf; nothing is measured or kept")
	flag.DurationVar(&o.bound, "bound", 20*time.Minute, "limit after which a run is aborted")
	flag.Parse()
	sys, err := systemOf(o.system)
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnaround:", err)
		os.Exit(1)
	}
	o.Table = sys.page
	if o.drawn > 0 {
		o.Table = "drawn"
	}
	o.Main(func(ctx context.Context) (string, error) { return o.measure(ctx, sys) })
}

// measure makes the requested runs and returns the table.
func (o options) measure(ctx context.Context, sys *system) (string, error) {
	if o.simulate != "" {
		strategies = slices.DeleteFunc(strategies, func(st strategy) bool { return st.name == "torc" })
	}
	if o.simulate == "" {
		o.parted = 0
	} else if o.drawn > 0 && o.parted > 0 {
		strategies = append(strategies, inPartitions...)
	}
	if sys != &slurm {
		strategies = slices.DeleteFunc(strategies, func(st strategy) bool { return st.direct != nil })
	}
	if o.drawn > 0 {
		script = drawn(o.seed, o.drawn, o.parted)
	}
	todo, err := choose(o)
	if err != nil {
		return "", err
	}
	if o.simulate != "" {
		return simulateAll(ctx, todo, batch.Policy(o.simulate))
	}
	if err := os.MkdirAll(filepath.Join(o.Out, "logs"), 0o755); err != nil {
		return "", err
	}
	res, err := openResults(o.Out)
	if err != nil {
		return "", err
	}
	if !o.TableOnly {
		if o.only == "" {
			todo = slices.DeleteFunc(todo, func(t trial) bool { return res.done(t.s.name, t.st.name, t.nth) })
		}
		if err := runAll(ctx, o, sys, todo, res); err != nil {
			return "", err
		}
	}
	rows := compareAll(res.all)
	if o.drawn > 0 && o.Docs != "" {
		if err := drawShares(o.Docs, rows); err != nil {
			return "", err
		}
	}
	return tables(rows), nil
}

// trial is one run, and the strategies that have the same request.
type trial struct {
	s    *situation
	st   *strategy
	same []*strategy
	nth  int // repetition
}

// choose returns the trials that the flags name. Strategies with the same request share a run.
func choose(o options) ([]trial, error) {
	var allSituations, allStrategies []string
	for _, s := range script {
		allSituations = append(allSituations, s.name)
	}
	for _, st := range strategies {
		allStrategies = append(allStrategies, st.name)
	}
	situations, err := names(o.only, allSituations)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	wanted, err := names(o.strategies, allStrategies)
	if err != nil {
		return nil, fmt.Errorf("-strategies: %w", err)
	}
	var todo []trial
	for nth := range o.Repeat {
		for i := range script {
			if slices.Contains(situations, script[i].name) {
				todo = append(todo, trialsOf(&script[i], wanted, nth)...)
			}
		}
	}
	return todo, nil
}

func trialsOf(s *situation, wanted []string, nth int) []trial {
	var todo []trial
	for i := range strategies {
		st := &strategies[i]
		if !slices.Contains(wanted, st.name) {
			continue
		}
		same := slices.IndexFunc(todo, func(t trial) bool { return st.shape != nil && t.st.shape != nil && t.st.request(s) == st.request(s) })
		if same < 0 {
			todo = append(todo, trial{s: s, st: st, nth: nth})
		} else {
			todo[same].same = append(todo[same].same, st)
		}
	}
	return todo
}

// runAll makes the runs, up to parallel at a time. A failed run is reported and recorded.
func runAll(ctx context.Context, o options, sys *system, todo []trial, res *results) error {
	b, err := newBench(ctx, o, sys)
	if err != nil {
		return err
	}
	defer b.clear()
	limit := make(chan struct{}, max(1, o.parallel))
	if err := b.learn(ctx, known(todo), limit); err != nil {
		return err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	n := 0
	for _, t := range todo {
		limit <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-limit }()
			out := b.run(ctx, t.s, t.st, t.nth)
			if ctx.Err() != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			n++
			report(n, len(todo), out)
			o.Turn(t.nth)
			if err := res.put(t.outcomes(out)...); err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failed
}

// outcomes returns the outcome for the strategy that was run and for those with the same request.
func (t trial) outcomes(o outcome) []outcome {
	all := []outcome{o}
	for _, st := range t.same {
		shared := o
		shared.Strategy, shared.SameAs = st.name, o.Strategy
		all = append(all, shared)
	}
	return all
}

// known returns the jobs of which berth needs a profile.
func known(todo []trial) []*workload {
	var jobs []*workload
	for _, t := range todo {
		if !t.st.unknowing(t.s) && !slices.Contains(jobs, t.s.job) {
			jobs = append(jobs, t.s.job)
		}
	}
	return jobs
}

func report(n, of int, o outcome) {
	what := fmt.Sprintf("%6.1f s  %s", o.Turnaround, o.shapes())
	if o.Error != "" {
		what = "failed: " + o.Error
	}
	fmt.Fprintf(os.Stderr, "[%3d/%d] %s %-12s %-5s %s\n", n, of, time.Now().Format(time.TimeOnly), o.Situation, o.Strategy, what)
}

// movers is the number of clusters that start or end at the same time.
const movers = 2

// newBench creates the temporary folder and builds the program under test.
func newBench(ctx context.Context, o options, sys *system) (*bench, error) {
	root, err := os.MkdirTemp("", "bt-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(root, 0o755); err != nil { // the database of PBS runs as another user
		return nil, err
	}
	b := &bench{root: root, bound: o.bound, berth: filepath.Join(root, "berth"), system: sys, moving: make(chan struct{}, movers),
		script: filepath.Join(root, "scripts", sys.name+".sh")}
	if b.logs, err = filepath.Abs(filepath.Join(o.Out, "logs")); err != nil {
		return nil, err
	}
	if o.berth == "" {
		o.berth = filepath.Join(root, "built")
		build := exec.Command("go", "build", "-o", o.berth, "berth/cmd/berth")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build berth: %w", err)
		}
	}
	if out, err := exec.CommandContext(ctx, filepath.Join(o.scripts, sys.name+".sh"), "deps").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s.sh deps: %w: %s", sys.name, err, out)
	}
	program, err := os.ReadFile(o.berth)
	if err != nil {
		return nil, err
	}
	// Copies, so that changes to the originals disturb no run.
	return b, errors.Join(os.WriteFile(b.berth, program, 0o755),
		os.CopyFS(filepath.Dir(b.script), os.DirFS(o.scripts)), writePrograms(filepath.Join(root, "programs")))
}
