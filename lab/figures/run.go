package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// night is the folder with what is done for a commit.
type night struct {
	dir   string
	quick bool
	make  func(ctx context.Context, log string, args ...string) error // runs make; another function in tests
}

// all runs the steps that are not done, and returns an error that names those that failed. A step that fails does not keep
// the others from running.
func (n night) all(ctx context.Context, steps []step) error {
	var failed []error
	left := n.left(steps)
	fmt.Printf("%d of %d measurements are to be made, which would take %.1f hours in full\n", len(left), len(steps), hours(left))
	for _, s := range left {
		flags, _ := s.flags(n.quick)
		log := filepath.Join(n.dir, s.name+".log")
		fmt.Printf("%-16s begins %s, takes about %.0f minutes in full; log: %s\n", s.name, time.Now().Format(time.TimeOnly), s.takes.Minutes(), log)
		err := n.make(ctx, log, s.arguments(n, flags)...)
		if ctx.Err() != nil {
			return fmt.Errorf("ended during %s; start it again to go on there", s.name)
		}
		if err == nil {
			err = os.WriteFile(n.mark(s), []byte(time.Now().Format(time.RFC3339)+"\n"), 0o644)
		}
		if err != nil {
			fmt.Printf("%-16s failed: %v\n", s.name, err)
			failed = append(failed, fmt.Errorf("%s: %w; see %s", s.name, err, log))
		}
	}
	return errors.Join(failed...)
}

// left returns the steps that are to be run and not done.
func (n night) left(steps []step) (left []step) {
	for _, s := range steps {
		_, wanted := s.flags(n.quick)
		if _, err := os.Stat(n.mark(s)); wanted && err != nil {
			left = append(left, s)
		}
	}
	return left
}

// mark returns the file that says that a step is done.
func (n night) mark(s step) string { return filepath.Join(n.dir, s.name+".done") }

func hours(steps []step) (sum float64) {
	for _, s := range steps {
		sum += s.takes.Hours()
	}
	return sum
}

// flags returns the flags of a step for its command, and whether it is to be run.
func (s step) flags(quick bool) (flags string, ok bool) {
	if quick {
		return s.quick, s.quick != ""
	}
	return s.full, true
}

// arguments returns the arguments of make. A later flag replaces an earlier one, so an empty -docs leaves the page as it is.
func (s step) arguments(n night, flags string) []string {
	if s.keeps {
		flags += " -out " + filepath.Join(n.dir, s.name)
	}
	if n.quick {
		flags += " -docs="
	}
	args := []string{s.target}
	if s.variable != "" && flags != "" {
		args = append(args, s.variable+"="+strings.TrimSpace(flags))
	}
	return args
}

// runMake runs make with its output in a log.
func runMake(ctx context.Context, log string, args ...string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "make", args...)
	cmd.Stdout, cmd.Stderr = f, f
	// An interrupt of the whole group reaches the measurement, which removes its clusters and namespaces; make and go wait for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Minute
	return errors.Join(cmd.Run(), f.Close())
}
