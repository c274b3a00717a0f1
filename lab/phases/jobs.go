package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// benchmark is one of the seven jobs of examples/phases.
type benchmark struct {
	name string
	// scale is the input size in units of -size. Jobs that move data have more input than jobs that
	// compute, so that each takes some seconds.
	scale float64
	flags []string // for berth mapreduce, beyond those of all jobs
}

// six is the number of reduces of most jobs. It is given explicitly, so that all schedulers do the
// same work.
var six = []string{"-numReduceTasks", "6"}

// jobs are in the order of the tables.
var jobs = []benchmark{
	{"sort", 3, six},
	{"monsterquery", 4, six},
	{"webdatascan", 4, []string{"-numReduceTasks", "1"}},
	{"combiner", 0.25, six},
	{"selfjoin", 1, six},
	{"invertedindex", 1, six},
	{"classification", 0.5, six},
}

func jobNames() []string {
	var all []string
	for _, j := range jobs {
		all = append(all, j.name)
	}
	return all
}

func jobNamed(name string) benchmark {
	for _, j := range jobs {
		if j.name == name {
			return j
		}
	}
	return benchmark{name: name}
}

// seed is the seed of all inputs.
const seed = 1

// mapsPerJob is the number of splits of an input.
const mapsPerJob = 16

// bytesOf is the size of a job's input.
func (b *bench) bytesOf(j benchmark) int { return max(1<<10, int(j.scale*float64(b.size<<20))) }

// generate writes the inputs of jobs to this machine's file system.
func (b *bench) generate(ctx context.Context, jobs []string) error {
	if err := os.MkdirAll(b.input, 0o755); err != nil {
		return err
	}
	for _, name := range jobs {
		size := strconv.Itoa(b.bytesOf(jobNamed(name)))
		cmd := exec.CommandContext(ctx, filepath.Join(b.examples, "generate"), name, filepath.Join(b.input, name),
			"--size", size, "--file-size", size, "--seed", strconv.Itoa(seed))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("generate %s: %w: %s", name, err, out)
		}
	}
	return nil
}

// fill copies all inputs to the disk of each node, and creates the node's scratch folder. From then
// on the inputs have the same path on this machine and on the nodes.
func (b *bench) fill(c *cluster) error {
	for i := range nodes {
		if err := os.CopyFS(filepath.Join(c.diskOf(i), "input"), os.DirFS(b.input)); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(c.diskOf(i), "scratch"), 0o755); err != nil {
			return err
		}
	}
	here := filepath.Join(c.disk(), "input")
	if err := os.Rename(b.input, here); err != nil {
		return err
	}
	b.input = here
	return os.Mkdir(filepath.Join(c.disk(), "scratch"), 0o755)
}

// forget makes the kernel read the inputs from the nodes' disks again.
func (b *bench) forget() error {
	for i := range nodes {
		if err := evict(b.cluster.diskOf(i)); err != nil {
			return err
		}
	}
	return nil
}

// evict drops the files below a folder from the page cache.
func evict(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // a worker may be clearing its scratch folder
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// command is the command line of a job as a user writes it.
func (b *bench) command(ctx context.Context, j benchmark, output string, env, flags []string) *exec.Cmd {
	split := b.bytesOf(j)/mapsPerJob + 1
	args := append([]string{j.name, filepath.Join(b.input, j.name), output,
		"-D", "mapreduce.input.fileinputformat.split.maxsize=" + strconv.Itoa(split), "--json"}, flags...)
	cmd := exec.CommandContext(ctx, filepath.Join(b.examples, "run"), append(args, j.flags...)...)
	cmd.Env = append(env, "BERTH="+b.berth)
	cmd.Dir = b.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// digest is equal for outputs with the same lines in any order, because records with equal keys may
// be in any order.
func digest(dir string) (string, error) {
	parts, err := filepath.Glob(filepath.Join(dir, "part-*"))
	if err != nil || len(parts) == 0 {
		return "", fmt.Errorf("%s has no output (%v)", dir, err)
	}
	var sum, lines uint64
	for _, p := range parts {
		text, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		for line := range bytes.Lines(text) {
			h := fnv.New64a()
			_, _ = h.Write(line)
			sum += h.Sum64()
			lines++
		}
	}
	return fmt.Sprintf("%d lines, %016x", lines, sum), nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
