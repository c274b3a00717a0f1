package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// bench runs jobs, each on a cluster and with a state folder of its own below root.
type bench struct {
	root   string // temporary; short, because paths of Unix sockets lie below it
	berth  string // the program under test
	system *system
	script string // a copy of the one that starts clusters
	logs   string // folder for the logs of programs
	bound  time.Duration
	moving chan struct{} // bounds the number of clusters that start or end at the same time, which is work for the machine
	next   atomic.Int64
}

// site is the cluster and the state folder of one run.
type site struct {
	*cluster
	state, work, log string
}

// at creates a site, without jobs of other users. name is for logs.
func (b *bench) at(ctx context.Context, name string) (*site, error) {
	dir := filepath.Join(b.root, fmt.Sprint(b.next.Add(1)))
	p := &site{state: filepath.Join(dir, "state"), work: filepath.Join(dir, "work"), log: filepath.Join(b.logs, name)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, d := range []string{p.state, p.work, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	b.moving <- struct{}{}
	defer func() { <-b.moving }()
	var err error
	p.cluster, err = startCluster(ctx, b.system, b.script, filepath.Join(dir, "c"))
	return p, err
}

// leave ends everything that runs at the site, keeps the logs of programs, and removes the site.
func (b *bench) leave(p *site) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	stop := b.command(ctx, p, "server", "stop", "--force")
	if out, err := stop.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "turnaround: berth server stop: %v: %s\n", err, out)
	}
	b.moving <- struct{}{}
	down := p.down()
	<-b.moving
	if text, err := os.ReadFile(filepath.Join(p.state, "berth", "server", "log")); err == nil {
		keep(p.log+".server.log", text)
	}
	if down == nil {
		down = os.RemoveAll(filepath.Dir(p.state))
	}
	if down != nil { // the site is kept, so that what still runs there can be examined and ended
		fmt.Fprintln(os.Stderr, "turnaround:", down)
	}
}

func keep(path string, text []byte) {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "turnaround:", err)
	}
}

// command is berth as called by a user of the site's cluster.
func (b *bench) command(ctx context.Context, p *site, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.berth, args...)
	cmd.Dir = p.work
	cmd.Env = p.env("XDG_STATE_HOME="+p.state, "TMPDIR="+filepath.Join(filepath.Dir(p.state), "tmp"), "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// submit runs the job to its end and adds berth's output to the outcome.
func (b *bench) submit(ctx context.Context, p *site, w *workload, seed uint64, flags []string, o *outcome) error {
	args, err := w.write(p.work, filepath.Join(b.root, "programs"), seed, flags)
	if err != nil {
		return err
	}
	cmd := b.command(ctx, p, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	begun := time.Now()
	err = cmd.Run()
	o.Wall = time.Since(begun).Seconds()
	keep(p.log+".log", append([]byte(strings.Join(cmd.Args, " ")+"\n"), append(said.Bytes(), out.Bytes()...)...))
	if ctx.Err() != nil {
		return fmt.Errorf("the job did not end within %.0f s: %w", o.Wall, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("berth: %w: %s", err, lastLine(said.String()))
	}
	if err := o.parse(out.Bytes()); err != nil {
		return err
	}
	return w.check(p.work)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// run plays a situation and runs the job with one strategy in it.
func (b *bench) run(ctx context.Context, s *situation, st *strategy, nth int) (o outcome) {
	o = outcome{Situation: s.name, Strategy: st.name, Nth: nth, Request: st.request(s), At: time.Now().UTC().Format(time.RFC3339), Load: load()}
	ctx, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	if err := b.play(ctx, s, st, &o); err != nil {
		o.Error = err.Error()
	}
	return o
}

// load returns the average number of running processes in the last minute, or 0 if it is unknown.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	average, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return average
}

func (b *bench) play(ctx context.Context, s *situation, st *strategy, o *outcome) error {
	p, err := b.at(ctx, fmt.Sprintf("%s-%s-%d", s.name, st.name, o.Nth))
	if err != nil {
		return err
	}
	defer b.leave(p)
	if !st.unknowing(s) {
		if err := os.CopyFS(p.state, os.DirFS(b.profile(s.job))); err != nil {
			return fmt.Errorf("copy the profile: %w", err)
		}
	}
	if err := p.remember(s.past); err != nil {
		return err
	}
	_, _, later, err := s.fills()
	if err != nil {
		return err
	}
	if err := prepare(ctx, p.cluster, s); err != nil {
		return err
	}
	arrivals, stop := context.WithCancel(ctx)
	defer stop()
	begun := time.Now()
	arrived := arrive(arrivals, p.cluster, later, begun)
	if st.direct != nil {
		err = b.direct(ctx, p, s, st, o)
	} else {
		err = b.submit(ctx, p, s.job, seedRun, st.flags(b.system, s), o)
	}
	stop()
	return errors.Join(err, <-arrived, b.account(p, o, begun))
}

// account waits until berth has released its nodes, and reads the batch system's records of them.
func (b *bench) account(p *site, o *outcome, begun time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var idle error
	if o.Turnaround > 0 {
		idle = p.await(ctx, "berth to release its nodes", func(_, own []allocation) bool {
			for _, a := range own {
				if a.live() {
					return false
				}
			}
			return true
		})
	}
	fills, own, err := p.jobs(context.WithoutCancel(ctx))
	if err == nil {
		o.account(fills, own, float64(begun.UnixMilli())/1000)
		err = o.disturbed()
	}
	return errors.Join(idle, err)
}

// clear removes the rest of the temporary folder, except for sites that could not be removed.
func (b *bench) clear() {
	for i := range b.next.Load() {
		if _, err := os.Stat(filepath.Join(b.root, fmt.Sprint(i+1))); err == nil {
			return
		}
	}
	if err := os.RemoveAll(b.root); err != nil {
		fmt.Fprintln(os.Stderr, "turnaround:", err)
	}
}
