package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/rundir"
)

// bench has the programs under test and the places where they run.
type bench struct {
	*options
	dir    string // temporary
	groups *groups
	turn   int
}

// example is a job of the experiment.
type example struct {
	name, title string
	generate    func(o *options) []string
	run         func(in, out string, o *options) []string
	env         []string
	program     string // what a task runs, in a shell with the input in $1, if it is several programs; empty: its first ten seconds suffice for learning
}

// examples are the jobs, with a size such that a task takes the given CPU seconds.
var examples = []example{
	{"assembly", "assembly (the paper: Cap3)",
		func(o *options) []string {
			return []string{"--sets", fmt.Sprint(o.tasks), "--genome", fmt.Sprint(int(o.work * 66_000))}
		},
		func(in, out string, _ *options) []string { return []string{in, out} }, nil,
		`work=$(mktemp -d); velveth "$work" 31 -short -fasta "$1/reads/0001.fa"; velvetg "$work" -exp_cov auto -cov_cutoff auto -min_contig_lgth 200; rm -r "$work"`},
	{"blur", "blur (the paper: ImageMagick)",
		func(o *options) []string {
			side := int(tileSide(o.work))
			return []string{"--size", fmt.Sprintf("%dx%d", side*4, side*((o.tasks+3)/4))}
		},
		func(in, out string, o *options) []string { return []string{in, out, fmt.Sprint((o.tasks + 3) / 4 * 4)} }, []string{"RADIUS=36", "SIGMA=12"}, ""},
}

// server is a coordinator with its own state folder.
type server struct {
	*bench
	state string
}

// serve starts a coordinator with the results of the first runs, and moves its workers into their
// groups.
func (b *bench) serve(ctx context.Context, rule string) (*server, error) {
	b.turn++
	s := &server{b, filepath.Join(b.dir, "state", fmt.Sprint(b.turn))}
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return nil, err
	}
	if known := filepath.Join(b.dir, "known"); exists(known) {
		if err := os.CopyFS(s.state, os.DirFS(known)); err != nil {
			return nil, err
		}
	}
	if err := s.must(ctx, s.berth, "server", "start", "--straggler-rule", rule); err != nil {
		return nil, err
	}
	if err := s.must(ctx, s.berth, append([]string{"bag", "--idle-timeout", "1h", "--stdout", "none", "--array", "1"}, append(s.flags(), "--", "true")...)...); err != nil {
		return nil, err
	}
	return s, s.confine()
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// flags are the flags of all jobs, so that one allocation serves them.
func (b *bench) flags() []string { return []string{"--on", "local", "--workers", fmt.Sprint(b.nodes)} }

// confine moves each worker, with the processes that it has started, into the group of its node.
func (s *server) confine() error {
	files, err := filepath.Glob(filepath.Join(s.state, "berth", "server", "allocs", "*", "*.pid"))
	if err != nil || len(files) != s.nodes {
		return fmt.Errorf("%d workers, want %d: %v", len(files), s.nodes, err)
	}
	parents := processes()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var worker int
		if _, err := fmt.Sscan(string(text), &worker); err != nil {
			return err
		}
		i := rank(strings.TrimSuffix(file, ".pid"))
		for pid := range parents {
			if pid == worker || descends(pid, worker, parents) {
				if err := s.groups.put(i, "work", pid); err != nil && pid == worker {
					return err
				}
			}
		}
	}
	return nil
}

// processes returns all processes with their parents.
func processes() map[int]int {
	parents := make(map[int]int)
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		if _, err := fmt.Sscan(string(b), &pid); err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b[bytes.LastIndexByte(b, ')'):]), " ")
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil {
			parents[pid] = parent
		}
	}
	return parents
}

func descends(pid, from int, parents map[int]int) bool {
	for n := 0; pid > 1 && n < 100; n++ {
		if pid = parents[pid]; pid == from {
			return true
		}
	}
	return false
}

// command is a program in the environment of the coordinator's commands.
func (s *server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "BERTH_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+s.state, "BERTH="+s.berth, "NO_COLOR=1", "SLURM_CONF=/dev/null", rundir.ProgressVar+"="+s.progress)
	cmd.Dir = s.dir
	return cmd
}

func (s *server) must(ctx context.Context, program string, args ...string) error {
	if out, err := s.command(ctx, program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return nil
}

// stop ends the coordinator and its workers.
func (s *server) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.must(ctx, s.berth, "server", "stop", "--force")
}

// learn runs each job twice without slow nodes, so that all rules have the same knowledge: how often
// its program enters each function, the durations of tasks, and the progress curves of planted
// tasks.
func (b *bench) learn(ctx context.Context) error {
	s, err := b.serve(ctx, "nothing")
	if err != nil {
		return err
	}
	for _, e := range b.jobs {
		if err := s.teach(ctx, e); err != nil {
			return errors.Join(err, s.stop())
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	return s.remember()
}

func (s *server) teach(ctx context.Context, e example) error {
	if e.program != "" && s.progress == job.ProgressHits.String() {
		if err := s.must(ctx, s.berth, "trace", "stats", "--", "/bin/sh", "-c", e.program, "sh", e.name+".in"); err != nil {
			return err
		}
	}
	for _, out := range []string{e.name + ".first", e.name + ".out"} {
		if err := s.example(ctx, e, out); err != nil {
			return err
		}
	}
	return s.check(ctx, e)
}

// remember keeps what the coordinator has learned, but none of its jobs, for later coordinators.
func (s *server) remember() error {
	from, to := filepath.Join(s.state, "berth"), filepath.Join(s.dir, "known", "berth")
	files, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, f := range files {
		switch {
		case err != nil || slices.Contains([]string{"runs", "server", "scratch"}, f.Name()): // scratch: workers may still remove theirs
		case f.IsDir():
			err = os.CopyFS(filepath.Join(to, f.Name()), os.DirFS(filepath.Join(from, f.Name())))
		default:
			err = copyFile(filepath.Join(to, f.Name()), filepath.Join(from, f.Name()))
		}
	}
	return err
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// example runs a job to its end.
func (s *server) example(ctx context.Context, e example, out string) error {
	ctx, cancel := context.WithTimeout(ctx, s.bound)
	defer cancel()
	cmd := s.command(ctx, filepath.Join(s.source, e.name, "run"), append(e.run(e.name+".in", out, s.options), append(s.flags(), s.extra...)...)...)
	cmd.Env = append(cmd.Env, e.env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", e.name, err, said)
	}
	return nil
}

func (s *server) check(ctx context.Context, e example) error {
	cmd := s.command(ctx, filepath.Join(s.source, e.name, "check"), e.name+".in", e.name+".out")
	cmd.Env = append(cmd.Env, e.env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("check of %s: %w: %s", e.name, err, said)
	}
	return nil
}

// measure runs a job under a rule with slow nodes.
func (b *bench) measure(ctx context.Context, e example, rule string, repeat int, slow []episode) run {
	r := run{Job: e.name, Rule: rule, Repeat: repeat, Episodes: slow}
	if err := b.measureInto(ctx, &r, e, slow); err != nil {
		r.Error = err.Error()
	}
	return r
}

func (b *bench) measureInto(ctx context.Context, r *run, e example, slow []episode) (err error) {
	s, err := b.serve(ctx, r.Rule)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	before, err := b.groups.used()
	if err != nil {
		return err
	}
	during, cancel := context.WithCancel(ctx)
	defer cancel()
	guesses := make(chan []guess, 1)
	go func() { guesses <- s.watch(during, slow) }()
	out := e.name + ".measured"
	begin := time.Now()
	err = s.example(ctx, e, out)
	r.Completion = time.Since(begin).Seconds()
	cancel()
	all := <-guesses
	err = errors.Join(err, b.groups.each(b.groups.calm))
	after, errUsed := b.groups.used()
	if err = errors.Join(err, errUsed); err != nil {
		return err
	}
	r.CPU = after - before
	v, err := s.operation(ctx)
	if err != nil {
		return err
	}
	if err := s.ask(ctx, &v, "report", v.ID, "--tasks", "--json"); err != nil {
		return err
	}
	r.Operation = v.Ended.Sub(v.Started).Seconds()
	r.Tasks, r.Attempts, r.Killed, r.Wasted = v.Total, v.Attempts.Started, v.Attempts.Killed, v.Wasted
	r.Failed = v.Attempts.Failed + v.Attempts.Lost
	for _, w := range v.Rows {
		if w.Outcome == "done" {
			r.Took = append(r.Took, w.Ended.Sub(w.Started).Seconds())
		}
	}
	r.Predictions = atHalf(all, v.Rows, slow)
	same, err := sameBytes(filepath.Join(b.dir, out), filepath.Join(b.dir, e.name+".out"))
	if err == nil && !same {
		err = fmt.Errorf("the output of %s differs from the output of the first run", e.name)
	}
	return errors.Join(err, os.Remove(filepath.Join(b.dir, out)))
}

func sameBytes(a, b string) (bool, error) {
	x, err := os.ReadFile(a)
	if err != nil {
		return false, err
	}
	y, err := os.ReadFile(b)
	return bytes.Equal(x, y), err
}
