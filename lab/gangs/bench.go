package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed hq.py
var hqPy string

// sides are who runs the tasks, and how.
var sides = [...]struct{ name, priority string }{{name: "berth"}, {"HyperQueue", "0"}, {"HyperQueue with priority for gangs", "1"}}

// bench makes runs on a private cluster.
type bench struct {
	options
	res   *results
	slurm string // folder of the cluster
}

func (b *bench) up(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gangs")
	if err != nil {
		return err
	}
	b.slurm = filepath.Join(dir, "s")
	cmd := exec.CommandContext(ctx, b.script, "up", b.slurm)
	cmd.Env = append(os.Environ(), fmt.Sprint("SLURM_NODES=", nodes), fmt.Sprint("SLURM_CPUS=", cores))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// down ends the cluster with all its jobs.
func (b *bench) down() {
	_ = exec.Command(b.script, "down", b.slurm).Run() //nolint:noctx // also after an interrupt
	_ = os.RemoveAll(filepath.Dir(b.slurm))
}

// run has a side run the tasks of a repetition, unless there is a result of it, and adds the result.
func (b *bench) run(ctx context.Context, side, repetition int) error {
	m := measurement{Side: sides[side].name, Repetition: repetition}
	if b.res.has(m) {
		return nil
	}
	dir, err := os.MkdirTemp(b.Out, "run-")
	if err != nil {
		return err
	}
	all := b.draw(repetition)
	if err := write(filepath.Join(dir, "tasks.jsonl"), all); err != nil {
		return err
	}
	for name, text := range map[string]string{"task.sh": script, "hq.py": hqPy} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if out, err := b.command(ctx, dir, side).CombinedOutput(); err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", m.Side, dir, err, out)
	}
	m.Work = work(all)
	times, err := os.Open(filepath.Join(dir, "times"))
	if err != nil {
		return err
	}
	defer times.Close()
	if m.Makespan, err = makespan(times, all); err != nil {
		return fmt.Errorf("%s in %s: %w", m.Side, dir, err)
	}
	b.Turn(repetition)
	return b.res.add(m)
}

// command returns what runs the tasks in the folder, with a state of its own.
func (b *bench) command(ctx context.Context, dir string, side int) *exec.Cmd {
	args := []string{b.berth, "bag", "--on", "slurm", "--nodes", strconv.Itoa(nodes), "--max-allocs", "1", "--no-scout", "--exclusive", "--time", "30m",
		"--stdout", "none", "--stderr", "none", "--tasks", "tasks.jsonl"}
	if p := sides[side].priority; p != "" {
		run := []string{"python3", "hq.py", "tasks.jsonl", filepath.Join(dir, "server"), strconv.Itoa(nodes), strconv.Itoa(cores), p}
		args = append([]string{"salloc", "--nodes", strconv.Itoa(nodes), "--exclusive", "--time", "30"}, run...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(b.slurm, "slurm.conf"), "PYTHONPATH="+b.hq, "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"BERTH_LISTEN=127.0.0.1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd
}
