// Package bed is the life of a private cluster of a batch system, which a script of the folder scripts starts for tests and experiments.
// Packages slurmtest, pbstest and gridenginetest say what differs.
package bed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// patience limits each wait of a test.
	patience = 5 * time.Minute
	// pollEvery is the time between two polls; batch systems report no changes.
	pollEvery = 100 * time.Millisecond
	// tries is how often a script is run for the same action. It waits a minute for a daemon, which may be too short on a busy machine.
	tries = 3
)

// Config says what is special about a batch system.
type Config struct {
	Scripts   []string            // names of files in the folder scripts: the one that is run, and those that it reads
	Environ   func() []string     // the environment of the script and of the cluster's commands
	Bin       string              // the folder of the commands, below Home; "": they are on PATH
	Log       string              // a pattern for the files of its log, below Home, of which the last one counts
	User      *syscall.Credential // who runs it; nil: the user who runs the test
	Continues bool                // an action that failed continues where it was when it is tried again
	Help      string              // what to do if the cluster does not start
}

// Bed is a cluster.
type Bed struct {
	Dir  string // a folder that all nodes share and the test may use; removed at the end
	Home string // the cluster's own folder, below Dir
	Config
}

// Start starts the cluster, which ends with the test, or with the test process if that dies.
func (b *Bed) Start(tb testing.TB) {
	tb.Helper()
	end, err := b.Up()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("its log ends:\n%s", b.logTail(60))
		}
		if err := end(); err != nil {
			tb.Error(err)
		}
	})
}

// Shared is a cluster that all tests of a package use.
type Shared[C any] struct {
	once sync.Once
	c    C
	end  func() error
	err  error
}

// Get returns the cluster, which up starts for the first test, with the function that ends it.
func (s *Shared[C]) Get(tb testing.TB, up func() (C, func() error, error)) C {
	tb.Helper()
	s.once.Do(func() { s.c, s.end, s.err = up() })
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.c
}

// End ends the cluster, if any was started. TestMain calls it.
func (s *Shared[C]) End() error {
	if s.end == nil {
		return nil
	}
	return s.end()
}

// Up starts the cluster. The function ends it.
func (b *Bed) Up() (end func() error, err error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	if end, err = b.keep(); err != nil {
		return nil, err
	}
	for range tries {
		if _, err = b.Try(b.script(), "up", b.Home); err == nil {
			return end, nil
		}
		if !b.Continues {
			_, _ = b.Try(b.script(), "down", b.Home) // the next try says if something is left
		}
	}
	return nil, errors.Join(err, errors.New(b.Help), end())
}

func (b *Bed) script() string { return filepath.Join(b.Dir, b.Scripts[0]) }

// prepare creates the folder, with copies of the scripts that any user can read, so that the cluster can be ended when the checkout is
// gone. Its path is short, because paths of sockets must be. No process starts meanwhile, as it would have a copy open for
// writing until it executes its program, and the kernel refuses to execute a file that is open for writing.
func (b *Bed) prepare() error {
	from, err := scripts()
	if err != nil {
		return err
	}
	if b.Dir, err = os.MkdirTemp("/tmp", strings.TrimSuffix(b.Scripts[0], ".sh")); err != nil {
		return err
	}
	b.Home = filepath.Join(b.Dir, "cluster")
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, name := range b.Scripts {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.Dir, name), text, 0o755); err != nil {
			return err
		}
	}
	if b.User != nil {
		err = os.Chown(b.Dir, int(b.User.Uid), int(b.User.Gid))
	}
	return errors.Join(err, os.Chmod(b.Dir, 0o755))
}

// scripts returns the folder scripts of the module in which the test runs.
func scripts() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return filepath.Join(d, "scripts"), nil
		}
	}
	return "", fmt.Errorf("bed: no go.mod at or above %s", dir)
}

// Find runs a script of the folder scripts and returns its output.
func Find(name string, args ...string) (string, error) {
	from, err := scripts()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(filepath.Join(from, name), args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// keep starts a process that takes the cluster down when it reads the end of a pipe. The returned function closes the other end, and so
// does the kernel when the test process dies.
func (b *Bed) keep() (end func() error, err error) {
	keeper := exec.Command("bash", "-c", `cat >/dev/null; "$0/$1" down "$0/cluster" && rm -rf "$0"`, b.Dir, b.Scripts[0])
	keeper.Env, keeper.Dir = b.Environ(), "/"
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: b.User}
	var said strings.Builder
	keeper.Stderr = &said
	life, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	return func() error {
		_ = life.Close()
		if err := keeper.Wait(); err != nil {
			return fmt.Errorf("taking the cluster down: %w: %s", err, said.String())
		}
		return nil
	}, nil
}

// logTail returns the last lines of the log.
func (b *Bed) logTail(lines int) string {
	logs, _ := filepath.Glob(filepath.Join(b.Home, b.Log))
	if len(logs) == 0 {
		return "there is none"
	}
	log, err := os.ReadFile(slices.Max(logs))
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(string(log), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// Run runs a command of the batch system in the cluster's folder and returns its standard output without surrounding white space. The test
// fails if the command fails.
func (b *Bed) Run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	out, err := b.Try(name, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Try is Run for commands that may fail; the error contains their output.
func (b *Bed) Try(name string, args ...string) (string, error) {
	if program := filepath.Join(b.Home, b.Bin, name); b.Bin != "" && filepath.Base(name) == name {
		if _, err := os.Stat(program); err == nil {
			name = program
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = b.Environ(), b.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: b.User}
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return strings.TrimSpace(out.String()), fmt.Errorf("%s %q: %w: %s", name, args, err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Control has the script do something with a part of the cluster.
func (b *Bed) Control(tb testing.TB, what string, part ...string) {
	tb.Helper()
	var err error
	for range tries {
		if _, err = b.Try(b.script(), append([]string{what, b.Home}, part...)...); err == nil || !b.Continues {
			break
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Poll calls ask until it returns true. If that takes too long, the test fails with the last text.
func (b *Bed) Poll(tb testing.TB, ask func() (bool, string)) {
	tb.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pollEvery) {
		yes, why := ask()
		if yes {
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("after %v: %s", patience, why)
		}
	}
}

// Setenv makes the test process and its children use these variables until the test ends.
func Setenv(tb testing.TB, env []string) {
	tb.Helper()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		tb.Setenv(name, value)
	}
}
