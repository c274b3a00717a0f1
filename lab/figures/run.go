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
	for _, s := range steps {
		flags, ok := s.flags(n.quick)
		if !ok {
			continue
		}
		mark, log := filepath.Join(n.dir, s.name+".done"), filepath.Join(n.dir, s.name+".log")
		if _, err := os.Stat(mark); err == nil {
			fmt.Printf("%-16s is done\n", s.name)
			continue
		}
		fmt.Printf("%-16s begins %s, takes about %v in full; log: %s\n", s.name, time.Now().Format(time.TimeOnly), s.takes, log)
		err := n.make(ctx, log, s.arguments(n, flags)...)
		if ctx.Err() != nil {
			return fmt.Errorf("ended during %s; start it again to go on there", s.name)
		}
		if err == nil {
			err = os.WriteFile(mark, []byte(time.Now().Format(time.RFC3339)+"\n"), 0o644)
		}
		if err != nil {
			fmt.Printf("%-16s failed: %v\n", s.name, err)
			failed = append(failed, fmt.Errorf("%s: %w; see %s", s.name, err, log))
		}
	}
	return errors.Join(failed...)
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
