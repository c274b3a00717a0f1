package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// bench has the programs under test and the places where they run.
type bench struct {
	*options
	root     string // temporary
	berth    string // a copy of the program
	examples string
	input    string // the folder with an input folder for each job
	cluster  *cluster
	expected map[string]string // the digest of each job's output
	turn     int
	leave    func()
}

func (b *bench) up(ctx context.Context) (err error) {
	fmt.Fprintln(os.Stderr, "the nodes and their Slurm are in", b.root)
	b.cluster, err = startCluster(ctx, filepath.Join(b.root, "scripts"), b.root, b.node, b.fill)
	return err
}

// onCluster are the flags of all jobs on the cluster: one allocation of all nodes serves them.
func (b *bench) onCluster() []string {
	return []string{"--on", "slurm", "--nodes", fmt.Sprint(nodes), "--time", "120", "--wall-time", "max", "--max-allocs", "1", "--no-scout", "--exclusive",
		"--idle-timeout", "10m",
		"--node-disk", fmt.Sprintf("%dM", b.node.Disk), "--node-net", fmt.Sprintf("%dK", b.node.Net*1000/8), "--scratch", filepath.Join(b.cluster.disk(), "scratch")}
}

// server is a coordinator with its own state folder.
type server struct {
	b     *bench
	on    *cluster // nil: this machine without limits
	state string
	env   []string
	flags []string // of its jobs
}

// serve starts a coordinator with the profiles of the earlier runs, if there are any.
func (b *bench) serve(ctx context.Context, scheduler string, on *cluster) (*server, error) {
	b.turn++
	s := &server{b: b, on: on, state: filepath.Join(b.root, "state", fmt.Sprint(b.turn))}
	known := b.knowledge(on)
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(known); err == nil {
		if err := os.CopyFS(s.state, os.DirFS(known)); err != nil {
			return nil, err
		}
	}
	s.env, s.flags = plainEnv(), []string{"--on", "local"}
	if on != nil {
		s.env, s.flags = on.env(), b.onCluster()
	}
	s.env = append(s.env, "XDG_STATE_HOME="+s.state, "NO_COLOR=1")
	if err := s.berth(ctx, "server", "start", "--keep", "--scheduler", scheduler); err != nil {
		return nil, err
	}
	return s, nil
}

// berth runs one of the program's commands.
func (s *server) berth(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.b.berth, args...)
	cmd.Env, cmd.Dir = s.env, s.b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("berth %s: %w: %s", strings.Join(args, " "), err, lastLine(string(out)))
	}
	return nil
}

// stop ends the coordinator and releases its nodes.
func (s *server) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := s.berth(ctx, "server", "stop", "--force")
	if s.on != nil {
		cancelAll := exec.CommandContext(ctx, "scancel", "--user=root")
		cancelAll.Env = s.env
		err = errors.Join(err, cancelAll.Run(), s.on.idle(ctx, s.env))
	}
	return err
}

// idle waits until the cluster has no jobs.
func (c *cluster) idle(ctx context.Context, env []string) error {
	for {
		cmd := exec.CommandContext(ctx, "squeue", "--noheader")
		cmd.Env = env
		out, err := cmd.Output()
		if err == nil && len(bytes.TrimSpace(out)) == 0 {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the nodes were not released in time: %v %s", err, out)
		}
	}
}

// knowledge is the folder with berth's profiles of the jobs.
func (b *bench) knowledge(on *cluster) string {
	if on != nil {
		return filepath.Join(b.root, "known", "cluster")
	}
	return filepath.Join(b.root, "known", "here")
}

// learn runs each job once without counting it, so that all schedulers begin with the same profiles,
// and records the digests of the outputs.
func (b *bench) learn(ctx context.Context, jobs []string, on *cluster) error {
	fmt.Fprintln(os.Stderr, "earlier runs of each job")
	b.expected = map[string]string{}
	s, err := b.serve(ctx, "cores", on)
	if err != nil {
		return err
	}
	for _, name := range jobs {
		r := s.run(ctx, run{Part: alone}, []string{name})
		if r.Error != "" {
			return errors.Join(fmt.Errorf("earlier run of %s: %s", name, r.Error), s.stop())
		}
	}
	if err := s.stop(); err != nil {
		return err
	}
	return copyKnowledge(b.knowledge(on), s.state)
}

// copyKnowledge copies the database of profiles, but not the coordinator's own folder with its
// allocations.
func copyKnowledge(to, state string) error {
	if err := os.MkdirAll(filepath.Join(to, "berth"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"berth.db", "berth.db-wal"} {
		text, err := os.ReadFile(filepath.Join(state, "berth", name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err = errors.Join(err, os.WriteFile(filepath.Join(to, "berth", name), text, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// turns runs the schedulers alternately, in both orders, so that slow changes of the machine favour
// none.
func (b *bench) turns(ctx context.Context, p program, res *results) error {
	for rep := range b.Repeat {
		order := slices.Clone(p.schedulers)
		if rep%2 == 1 {
			slices.Reverse(order)
		}
		for _, scheduler := range order {
			if err := b.oneTurn(ctx, scheduler, rep, p, res); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneTurn runs each job alone and then the batch under a scheduler, in one allocation, as far as the results do not have them.
func (b *bench) oneTurn(ctx context.Context, scheduler string, rep int, p program, res *results) error {
	jobs, together := p.left(res, scheduler, rep)
	if len(jobs) == 0 && !together {
		return nil
	}
	s, err := b.serve(ctx, scheduler, b.cluster)
	if err != nil {
		return err
	}
	defer func() {
		if err := s.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "phases:", err)
		}
	}()
	if err := s.warm(ctx); err != nil {
		return err
	}
	for _, name := range jobs {
		if err := b.put(res, rep, s.report(s.run(ctx, run{Scheduler: scheduler, Part: alone, Repeat: rep}, []string{name}))); err != nil {
			return err
		}
	}
	if together {
		if err := b.put(res, rep, s.report(s.run(ctx, run{Scheduler: scheduler, Part: batch, Repeat: rep}, twice(p.jobs, rep)))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// put adds a run of a turn to the results.
func (b *bench) put(res *results, turn int, r run) error {
	if r.Error == "" {
		b.Turn(turn)
	}
	return res.put(r)
}

// left returns the jobs that are still to be run alone under a scheduler in a repetition, and whether the batch is.
func (p program) left(res *results, scheduler string, rep int) (jobs []string, together bool) {
	if slices.Contains(p.parts, alone) {
		for _, name := range p.jobs {
			if !res.has(scheduler, alone, name, rep) {
				jobs = append(jobs, name)
			}
		}
	}
	return jobs, slices.Contains(p.parts, batch) && !res.has(scheduler, batch, "", rep)
}

// twice returns each job twice, in an order that depends on the repetition and is the same for all
// schedulers.
func twice(jobs []string, rep int) []string {
	all := slices.Concat(jobs, jobs)
	rand.New(rand.NewPCG(seed, uint64(rep))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// warm runs a small job of another application, so that the nodes' workers are ready.
func (s *server) warm(ctx context.Context) error {
	in := filepath.Join(s.state, "warm")
	if err := os.WriteFile(in, []byte("warm\n"), 0o644); err != nil {
		return err
	}
	return s.berth(ctx, append([]string{"mapreduce", "-input", in, "-output", in + ".out", "-mapper", "/bin/cat", "-reducer", "/bin/cat", "-numReduceTasks", "1"}, s.flags...)...)
}

// run runs jobs at once and measures them.
func (s *server) run(ctx context.Context, r run, names []string) run {
	ctx, cancel := context.WithTimeout(ctx, s.b.bound)
	defer cancel()
	r.At = time.Now().UTC().Format(time.RFC3339)
	if s.on != nil {
		if err := s.b.forget(); err != nil {
			r.Error = err.Error()
			return r
		}
	}
	begun := time.Now()
	stop := s.on.watch(begun)
	r.Jobs = make([]jobRun, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		r.Jobs[i].Job = name
		output := filepath.Join(s.state, fmt.Sprintf("out-%s-%d-%d", r.Part, time.Now().UnixNano(), i))
		// The jobs are submitted one after the other in the order of names, as a script would.
		submitted := make(chan struct{})
		wg.Go(func() { s.one(ctx, jobNamed(name), output, begun, &r.Jobs[i], submitted) })
		<-submitted
	}
	wg.Wait()
	r.Samples = stop()
	r.sum()
	if ctx.Err() != nil {
		r.Error = ctx.Err().Error()
	}
	return r
}

// submissionGap is the time between the starts of two commands of a batch.
const submissionGap = 30 * time.Millisecond

// one runs a job to its end and checks its output.
func (s *server) one(ctx context.Context, j benchmark, output string, begun time.Time, to *jobRun, submitted chan<- struct{}) {
	cmd := s.b.command(ctx, j, output, s.env, s.flags)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Start()
	time.AfterFunc(submissionGap, func() { close(submitted) })
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		to.Error = fmt.Sprintf("%v: %s", err, lastLine(said.String()))
		return
	}
	if err := to.parse(out.Bytes(), begun); err != nil {
		to.Error = err.Error()
		return
	}
	if err := s.b.check(ctx, j, output); err != nil {
		to.Error = err.Error()
	}
	_ = os.RemoveAll(output)
}

// check compares the output of an earlier run with an independent computation, and any other output
// with that of the earlier run.
func (b *bench) check(ctx context.Context, j benchmark, output string) error {
	got, err := digest(output)
	if err != nil {
		return err
	}
	want, known := b.expected[j.name]
	if known && got != want {
		return fmt.Errorf("its output has the digest %s, but that of its earlier run has %s", got, want)
	}
	if known {
		return nil
	}
	b.expected[j.name] = got // an earlier run runs alone, so there is no race
	cmd := exec.CommandContext(ctx, filepath.Join(b.examples, "check"), j.name, filepath.Join(b.input, j.name), output)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("its output differs from what check computes: %w: %s", err, lastLine(string(said)))
	}
	return nil
}

// report prints a line about a run to standard error.
func (s *server) report(r run) run {
	what := fmt.Sprintf("%6.1f s", r.Makespan)
	if len(r.Jobs) > 1 {
		what += fmt.Sprintf(", mean completion %6.1f s", r.mean())
	} else {
		what += " " + r.Jobs[0].Job
	}
	if r.Error != "" {
		what = "failed: " + r.Error
	}
	fmt.Fprintf(os.Stderr, "%s %-10s %-5s %d %s\n", time.Now().Format(time.TimeOnly), r.Scheduler, r.Part, r.Repeat+1, what)
	return r
}
