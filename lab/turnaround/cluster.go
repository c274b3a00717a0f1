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
	"time"

	"berth/internal/driver/batch"
)

// fillName is the name of the jobs of other users. All other jobs are under test.
const fillName = "fill"

// cluster is a private Slurm cluster.
type cluster struct{ dir, script string }

// startCluster starts a cluster below dir, whose partition has the limits of the situations.
func startCluster(ctx context.Context, script, dir string) (*cluster, error) {
	c := &cluster{dir: dir, script: script}
	steps := [][]string{{script, "up", dir},
		{"scontrol", "update", "PartitionName=main", "MaxTime=" + strconv.Itoa(maxTime)},
		{"scontrol", "update", "PartitionName=short", "MaxTime=" + strconv.Itoa(shortTime), "MaxNodes=" + strconv.Itoa(shortNodes)}}
	for _, s := range steps {
		if _, err := c.output(ctx, s[0], s[1:]...); err != nil {
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
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SLURM") && !strings.HasPrefix(kv, "SBATCH_") && !strings.HasPrefix(kv, "BERTH_") {
			env = append(env, kv)
		}
	}
	return append(append(env, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf")), more...)
}

// output runs one of Slurm's commands, or slurm.sh. Times are printed in seconds since 1970.
func (c *cluster) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = c.env("SLURM_TIME_FORMAT=%s")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 5 * time.Second // a daemon that up started may keep the pipe open
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// submit submits all copies of a job of other users.
func (c *cluster) submit(ctx context.Context, f fill) error {
	for range f.copies {
		if _, err := c.output(ctx, "sbatch", f.args()...); err != nil {
			return err
		}
	}
	return nil
}

// drain drains the last n nodes.
func (c *cluster) drain(ctx context.Context, n int) error {
	for i := clusterNodes; i > clusterNodes-n; i-- {
		if _, err := c.output(ctx, "scontrol", "update", fmt.Sprintf("NodeName=n%d", i), "State=DRAIN", "Reason=disk"); err != nil {
			return err
		}
	}
	return nil
}

// allocation is the last state of a Slurm job. Times are seconds since 1970, and after account
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

const squeueFormat = "%i|%j|%T|%D|%C|%l|%S|%e"

// jobs lists all jobs of the cluster so far: those of other users and our own.
func (c *cluster) jobs(ctx context.Context) (fills, own []allocation, err error) {
	out, err := c.output(ctx, "squeue", "--noheader", "--all", "--states", "all", "--sort", "i", "--format", squeueFormat)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(out) {
		a, err := parseJob(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, nil, err
		}
		switch a.Name {
		case fillName:
			fills = append(fills, a)
		case batch.WakeName: // it waits, and serves no job
		default:
			own = append(own, a)
		}
	}
	return fills, own, nil
}

// parseJob parses a line of squeue in squeueFormat.
func parseJob(line string) (allocation, error) {
	f := strings.Split(line, "|")
	if len(f) != 8 {
		return allocation{}, fmt.Errorf("squeue: line %q has %d fields, not 8", line, len(f))
	}
	a := allocation{ID: f[0], Name: f[1], State: f[2], Limit: f[5]}
	var err error
	if a.Nodes, err = strconv.Atoi(f[3]); err != nil {
		return a, fmt.Errorf("squeue: nodes in %q: %w", line, err)
	}
	if a.CPUs, err = strconv.Atoi(f[4]); err != nil {
		return a, fmt.Errorf("squeue: CPUs in %q: %w", line, err)
	}
	for i, to := range []*float64{&a.Start, &a.End} {
		if t := f[6+i]; t != "N/A" {
			if *to, err = strconv.ParseFloat(t, 64); err != nil {
				return a, fmt.Errorf("squeue: time in %q: %w", line, err)
			}
		}
	}
	return a, nil
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
