package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// bench is the inputs, and a folder for one run at a time. Every run of a case has the same folder,
// because programs print its name.
type bench struct {
	berth  string // the program under test
	dir    string
	inputs map[string][]byte
	bound  time.Duration // a command that takes longer is killed
	in     runner        // runs the commands; nil: they run by themselves
}

// outcome is the observable result of a case.
type outcome struct {
	commands []ended
	files    map[string]string // path → kind, rights and digest
}

// ended is the end of a command.
type ended struct {
	code           int // exit code; 128 + n: ended by signal n
	hung           bool
	stdout, stderr []byte
	stats          *stats // nil if nothing was planted
}

// home is the folder of files that programs keep for a user; its contents are not compared.
const home = "home"

// run runs all commands of a case in a new folder. part selects the planted functions; nil: the
// commands run unchanged.
func (b *bench) run(ctx context.Context, c *testCase, part *part) (*outcome, error) {
	work := filepath.Join(b.dir, "case")
	for _, d := range []string{work, filepath.Join(b.dir, home)} {
		if err := errors.Join(os.RemoveAll(d), os.Mkdir(d, 0o755)); err != nil {
			return nil, err
		}
	}
	if err := placeInputs(work, c, b.inputs); err != nil {
		return nil, err
	}
	o := &outcome{}
	for i := range c.commands {
		e, err := b.one(ctx, &c.commands[i], work, part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		o.commands = append(o.commands, *e)
	}
	var err error
	o.files, err = digests(work)
	return o, err
}

// one runs one command in the bag, if there is one.
func (b *bench) one(ctx context.Context, c *command, work string, part *part) (*ended, error) {
	if b.in != nil {
		return b.in.task(ctx, c, work)
	}
	return b.command(ctx, c, work, part)
}

// command runs one command, under berth if part is not nil.
func (b *bench) command(ctx context.Context, c *command, work string, part *part) (*ended, error) {
	args := c.args
	told := filepath.Join(b.dir, "stats.json")
	if part != nil {
		args = append(part.command(b.berth, told), args...)
	}
	ctx, cancel := context.WithTimeout(ctx, b.bound)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, environment(b.dir), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	in, out, err := c.open(work)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd.Stdin = in
	if out != nil {
		defer out.Close()
		cmd.Stdout = out
	}
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return nil, err
	}
	e := &ended{code: exitCode(cmd.ProcessState), hung: ctx.Err() != nil, stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	if part != nil && !e.hung {
		if e.stats, err = readStats(told); err != nil {
			return nil, fmt.Errorf("%w; berth wrote %q and ended with %d", err, e.stderr, e.code)
		}
	}
	return e, nil
}

// open opens the files of standard input and output; out is nil if output is captured.
func (c *command) open(work string) (in, out *os.File, err error) {
	if in, err = os.Open(inFolder(work, cmp.Or(c.in, os.DevNull))); err != nil || c.out == "" {
		return in, nil, err
	}
	out, err = os.Create(inFolder(work, c.out))
	return in, out, err
}

func inFolder(work, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(work, path)
}

func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// searched are the folders of Debian's programs.
const searched = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/games:/usr/lib/bowtie2"

// environment is the environment of all programs, which must not differ between runs.
func environment(dir string) []string {
	h := filepath.Join(dir, home)
	return []string{"PATH=" + searched, "HOME=" + h, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "TMPDIR=" + h, "USER=root", "LOGNAME=root", "LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb",
		"SOURCE_DATE_EPOCH=1580608922", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "PERL_HASH_SEED=0", "OMP_NUM_THREADS=2",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2020-02-02T02:02:02Z", "GIT_COMMITTER_DATE=2020-02-02T02:02:02Z", "GIT_PAGER=cat"}
}

// digests describes all files below a folder.
func digests(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		digest := ""
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			digest = fmt.Sprintf("%d bytes, sha256 %x", len(content), sha256.Sum256(content))
		case info.Mode()&fs.ModeSymlink != 0:
			if digest, err = os.Readlink(path); err != nil {
				return err
			}
		}
		name, err := filepath.Rel(dir, path)
		all[name] = fmt.Sprint(info.Mode(), " ", digest)
		return err
	})
	return all, err
}
