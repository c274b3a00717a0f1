package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"berth/lab/page"
)

// options are the command's flags.
type options struct {
	*page.Run
	berth, scripts, examples string
	only, schedulers, parts  string
	size                     int
	quick                    bool
	node                     capacity
	bound                    time.Duration
}

// schedulers are the compared schedulers, in the order of the tables.
var schedulers = []string{"slots", "containers", "packing", "prism", "phases", "cores"}

// The parts of the experiment.
var parts = []string{alone, batch, mix}

const (
	alone = "alone" // each job by itself on the cluster
	batch = "batch" // each job twice, all submitted at once
	mix   = "mix"   // four jobs at once on this machine without limits
)

func flags() *options {
	o := &options{Run: page.Flags("phases", "real", 3).Keeps()}
	flag.StringVar(&o.berth, "berth", "", "the program under test; if empty, it is built, and nothing is predicted")
	flag.StringVar(&o.scripts, "scripts", "scripts", "the folder of nodes.sh and slurm.sh")
	flag.StringVar(&o.examples, "examples", "examples/phases", "the folder of the seven jobs")
	flag.StringVar(&o.only, "only", "", "names of jobs, with commas between; empty: all")
	flag.StringVar(&o.schedulers, "schedulers", "", "names of schedulers, with commas between; empty: all")
	flag.StringVar(&o.parts, "parts", "", "parts of the experiment: alone, batch, mix; empty: all")
	flag.IntVar(&o.size, "size", 32, "input of a job in MB; some jobs have four times this input, others a quarter")
	flag.BoolVar(&o.quick, "quick", false, "one turn each on a quarter of the data")
	flag.IntVar(&o.node.Cores, "cores", max(1, runtime.NumCPU()/nodes), "cores of a node")
	flag.IntVar(&o.node.Mem, "mem", 1000, "memory of a node in MB")
	flag.IntVar(&o.node.Net, "net", 50, "network of a node in each direction, in Mb/s")
	flag.IntVar(&o.node.Disk, "disk", 20, "disk of a node in MB/s")
	flag.DurationVar(&o.bound, "bound", 10*time.Minute, "limit after which a job or a batch is aborted")
	flag.Parse()
	if o.quick {
		o.Repeat, o.size = 1, max(1, o.size/4)
	}
	return o
}

func main() {
	o := flags()
	o.Main(o.measure)
}

// measure makes the requested runs, draws the figures, and returns the tables.
func (o *options) measure(ctx context.Context) (string, error) {
	p, err := o.plan()
	if err != nil {
		return "", err
	}
	res, err := openResults(o.Out)
	if err != nil {
		return "", err
	}
	if !o.TableOnly {
		if err := perform(ctx, o, p, res); err != nil {
			return "", err
		}
	}
	if o.berth != "" {
		if err := res.predict(ctx, o.berth); err != nil {
			return "", err
		}
	}
	drawn := o.Out
	if o.Docs != "" {
		drawn = filepath.Dir(o.Docs)
	}
	return tables(res), figures(res, drawn)
}

// program is the part of the experiment that is to be run.
type program struct{ schedulers, jobs, parts []string }

// plan parses the flags that contain names.
func (o *options) plan() (p program, err error) {
	for _, c := range []struct {
		flag, names string
		known       []string
		to          *[]string
	}{{"only", o.only, jobNames(), &p.jobs}, {"schedulers", o.schedulers, schedulers, &p.schedulers}, {"parts", o.parts, parts, &p.parts}} {
		if *c.to, err = names(c.names, c.known); err != nil {
			return p, fmt.Errorf("-%s: %w", c.flag, err)
		}
	}
	return p, nil
}

// names parses a comma-separated list of known names; empty means all.
func names(list string, known []string) ([]string, error) {
	if list == "" {
		return known, nil
	}
	chosen := strings.Split(list, ",")
	for _, n := range chosen {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%q is none of %s", n, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// perform starts what is needed, makes all runs, and takes everything down.
func perform(ctx context.Context, o *options, p program, res *results) error {
	if os.Geteuid() != 0 {
		return errors.New("the nodes need network namespaces, control groups and loop devices: run this as root")
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.leave()
	if err := b.generate(ctx, p.jobs); err != nil {
		return err
	}
	if err := b.up(ctx); err != nil {
		return err
	}
	res.Node, res.Machine, res.SizeMB, res.Unlimited = o.node, runtime.NumCPU(), o.size, b.cluster.unlimited
	if slices.Contains(p.parts, alone) || slices.Contains(p.parts, batch) {
		if err := b.learn(ctx, p.jobs, b.cluster); err != nil {
			return err
		}
		if err := b.turns(ctx, p, res); err != nil {
			return err
		}
	}
	if slices.Contains(p.parts, mix) {
		return b.mix(ctx, res)
	}
	return nil
}

// newBench creates the temporary folder and copies the programs under test, so that changes to the
// originals disturb no run.
func newBench(o *options) (*bench, error) {
	root, err := os.MkdirTemp("", "bp-") // short, because paths of Unix sockets lie below it
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, root: root, berth: filepath.Join(root, "berth"), examples: filepath.Join(root, "examples"),
		input: filepath.Join(root, "input")}
	if o.berth == "" {
		build := exec.Command("go", "build", "-o", b.berth, "berth/cmd/berth-lab")
		build.Stderr = os.Stderr
		err = build.Run()
	} else {
		err = copyFile(b.berth, o.berth)
	}
	if err = errors.Join(err, os.Chmod(root, 0o755)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	err = errors.Join(os.CopyFS(filepath.Join(root, "scripts"), os.DirFS(o.scripts)), os.CopyFS(b.examples, os.DirFS(o.examples)))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return b, b.keep()
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}
