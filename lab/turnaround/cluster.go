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

	"berth/internal/driver/batch"
)

// fillName is the name of the jobs of other users. All other jobs are under test.
const fillName = "fill"

// cluster is a private cluster of a batch system.
type cluster struct {
	*system
	dir, script string
	vars        []string // that lead commands to it
}

// startCluster starts a cluster below dir, whose partitions have the limits of the situations.
func startCluster(ctx context.Context, sys *system, script, dir string) (c *cluster, err error) {
	c = &cluster{system: sys, dir: dir, script: script}
	if _, err := c.output(ctx, script, "up", dir); err != nil {
		return nil, errors.Join(err, c.down())
	}
	if c.vars, err = sys.vars(c); err != nil {
		return nil, errors.Join(err, c.down())
	}
	for _, words := range sys.limits(c) {
		if err := c.run(ctx, words); err != nil {
			return nil, errors.Join(err, c.down())
		}
	}
	return c, nil
}

// down ends the cluster with all its jobs, also if the run was interrupted.
func (c *cluster) down() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err := c.output(ctx, c.script, "down", c.dir)
	return err
}

// env is the environment of programs that use this cluster.
func (c *cluster) env(more ...string) []string {
	foreign := func(kv string) bool {
		return strings.HasPrefix(kv, "BERTH_") && !strings.HasPrefix(kv, "BERTH_PBS_TARBALL=") ||
			slices.ContainsFunc(c.foreign, func(start string) bool { return strings.HasPrefix(kv, start) })
	}
	return slices.Concat(slices.DeleteFunc(os.Environ(), foreign), c.set, c.vars, more)
}

// output runs one of the batch system's commands, or the script. Slurm prints times in seconds since 1970, others in UTC.
func (c *cluster) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "env", append([]string{name}, args...)...) // it searches the cluster's PATH, not ours
	cmd.Env, cmd.Dir = c.env("SLURM_TIME_FORMAT=%s", "TZ=UTC0", "LC_ALL=C"), "/"
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 5 * time.Second // a daemon that up started may keep the pipe open
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// both runs a command and returns what it prints on both of its outputs.
func (c *cluster) both(ctx context.Context, words []string) (string, error) {
	cmd := exec.CommandContext(ctx, "env", words...)
	cmd.Env, cmd.Dir = c.env("LC_ALL=C"), "/"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// submit submits all copies of a job of other users.
func (c *cluster) submit(ctx context.Context, f fill) error {
	for range f.copies {
		if err := c.run(ctx, c.system.submit(f)); err != nil {
			return err
		}
	}
	return nil
}

// drain drains the last n nodes.
func (c *cluster) drain(ctx context.Context, n int) error {
	for i := clusterNodes; i > clusterNodes-n; i-- {
		if err := c.run(ctx, c.system.drain(c, i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) run(ctx context.Context, words []string) error {
	_, err := c.output(ctx, words[0], words[1:]...)
	return err
}

// allocation is the last state of a job of the batch system, in the words of Slurm. Times are seconds since 1970, and after account
// seconds since the submission of the job under test.
type allocation struct {
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	State string  `json:"state"`
	Nodes int     `json:"nodes"`
	CPUs  int     `json:"cpus"`
	Limit string  `json:"limit"`
	Start float64 `json:"start_s"` // for a job that has not started: the planned start, or 0
	End   float64 `json:"end_s"`   // for a running job: its limit
}

// begun reports whether the job ever ran.
func (a allocation) begun() bool {
	return a.State != "PENDING" && a.Start > 0 && a.End > a.Start
}

// live reports whether the job still has nodes or may get some.
func (a allocation) live() bool {
	return a.State == "PENDING" || a.State == "RUNNING" || a.State == "COMPLETING" || a.State == "CONFIGURING"
}

// jobs lists all jobs of the cluster so far: those of other users and our own.
func (c *cluster) jobs(ctx context.Context) (fills, own []allocation, err error) {
	all, err := c.system.list(ctx, c)
	for _, a := range all {
		switch {
		case a.Name == fillName:
			fills = append(fills, a)
		case strings.HasPrefix(a.Name, batch.WakeName): // it waits, and serves no job
		default:
			own = append(own, a)
		}
	}
	return fills, own, err
}

// await polls the cluster until holds returns true, usually for a second or two.
func (c *cluster) await(ctx context.Context, what string, holds func(fills, own []allocation) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		fills, own, err := c.jobs(ctx)
		if err == nil && holds(fills, own) {
			return nil
		}
		if !pause(ctx, 200*time.Millisecond) {
			return fmt.Errorf("timed out while waiting for %s: %v; the jobs are %v and %v", what, err, fills, own)
		}
	}
}

// pause waits for d and reports whether it was not interrupted.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
