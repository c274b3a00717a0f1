package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"berth/internal/hits/plant"
)

// load is a program whose overhead is measured: a case that takes about a second.
type load struct{ name, prepare, line string }

// loads are the five programs of the experiment. The case prepare runs once before.
var loads = []load{
	{"ImageMagick's blur", "", "convert -limit thread 1 picture.ppm -resize 1200% -blur 0x6 out.ppm"},
	{"velvet", "velveth out 21 -short many.fa", "velvetg out -cov_cutoff auto"},
	{"gzip", "", "gzip -9 -c large.txt"},
	{"sqlite3", "", "sqlite3 :memory: < load.sql"},
	{"python3", "", "python3 load.py"},
}

// ways are the ways to run a load that are compared with the first.
var ways = []string{"as it is", "selected", "all"}

// sample is one run.
type sample struct {
	cpu      time.Duration // of user and system, of the program and its children
	hits     uint64
	planted  int
	standing time.Duration // time for which the program was stopped while it was planted
}

// measured is the result for a load: samples by way, those of one round together.
type measured struct {
	load
	samples [][]sample
}

// measure runs all loads in turn, in each round in every way, in a random order.
func (o *options) measure(ctx context.Context, dir string) (string, error) {
	b, err := o.newBench(dir, "overhead")
	if err != nil {
		return "", err
	}
	enlarge(b.inputs)
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]measured, 0, len(loads))
	for _, l := range loads {
		if o.only != "" && !strings.Contains(o.only, strings.Fields(l.line)[0]) {
			continue
		}
		m, err := b.rounds(ctx, l, o.Repeat, r)
		if m != nil && len(m.samples) > 0 {
			all = append(all, *m) // also the results so far if it was interrupted
		}
		if err != nil {
			return overheads(all), fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s is done\n", l.name)
	}
	return overheads(all), nil
}

// rounds measures a load: a first run for statistics, from which functions are selected, then the
// given number of rounds in all ways.
func (b *bench) rounds(ctx context.Context, l load, repeat int, r *rand.Rand) (*measured, error) {
	m := &measured{load: l}
	c, err := parseCase(l.line)
	if err != nil {
		return nil, err
	}
	if l.prepare != "" {
		before, err := parseCase(l.prepare)
		if err != nil {
			return nil, err
		}
		if _, err := b.run(ctx, &before, nil); err != nil {
			return nil, err
		}
	} else if _, err := b.run(ctx, &testCase{}, nil); err != nil { // creates the folder
		return nil, err
	}
	work := filepath.Join(b.dir, "case")
	if err := placeInputs(work, &c, b.inputs); err != nil {
		return nil, err
	}
	p := &plant.Planter{Dir: filepath.Join(b.dir, "kept")}
	err = b.planted(p, &c.commands[0], work, plant.Options{Exact: true, All: true}, func(*plant.Session) {})
	if err != nil { // its counts are kept, and used by runs that do not count all functions
		return nil, err
	}
	choices := []plant.Options{{}, {}, {All: true}}
	for range repeat {
		row := make([]sample, len(ways))
		for _, way := range r.Perm(len(ways)) {
			if way == 0 {
				row[way], err = b.timed(nil, &c.commands[0], work, plant.Options{})
			} else {
				row[way], err = b.timed(p, &c.commands[0], work, choices[way])
			}
			if err != nil || ctx.Err() != nil {
				return m, fmt.Errorf("%s: %w", ways[way], errors.Join(err, ctx.Err()))
			}
		}
		m.samples = append(m.samples, row)
	}
	return m, nil
}

// timed runs the command once, planted if p is not nil. No other child of this process may run.
func (b *bench) timed(p *plant.Planter, c *command, work string, o plant.Options) (s sample, err error) {
	before := spent()
	if p == nil {
		in, out, err := c.open(work)
		if err != nil {
			return s, err
		}
		defer in.Close()
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = work, environment(b.dir), in
		if out != nil {
			defer out.Close()
		}
		err = cmd.Run()
		s.cpu = spent() - before
		return s, err
	}
	err = b.planted(p, c, work, o, func(session *plant.Session) {
		s.cpu = spent() - before
		for _, f := range session.Functions() {
			s.hits, s.planted = s.hits+f.Hits, s.planted+1
		}
		_, s.standing = session.Planted()
	})
	return s, err
}

// planted runs the command planted and calls look with its session before closing it.
func (b *bench) planted(p *plant.Planter, c *command, work string, o plant.Options, look func(*plant.Session)) error {
	path, err := exec.LookPath(c.args[0])
	if err != nil {
		return err
	}
	in, _, err := c.open(work)
	if err != nil {
		return err
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{Dir: work, Env: environment(b.dir), Files: []uintptr{in.Fd(), null.Fd(), null.Fd()}}
	s, status, err := p.Run(path, c.args, attr, o, func(int) {})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Err(); err != nil {
		return err
	}
	if !status.Exited() || status.ExitStatus() != 0 {
		return fmt.Errorf("%s ended with status %#x", path, status)
	}
	look(s)
	return nil
}

// spent returns the CPU time of all children that ended, which the kernel counts in nanoseconds.
// Instructions are not used, because few virtual machines count them.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		panic(err) // the call fails only for a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// enlarge adds the inputs of the loads, which are larger than those of cases.
func enlarge(inputs map[string][]byte) {
	inputs["large.txt"] = []byte(strings.Repeat(string(inputs["text.txt"])+string(inputs["random.bin"]), 25))
	inputs["many.fa"] = reads(rand.New(rand.NewPCG(seed, 2)), 600_000, 150_000)
}
