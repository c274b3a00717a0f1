package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	period = 50 * time.Millisecond // of the limit on CPU time: short, so that a node never stops for long
	weight = 100                   // CPU weight of all nodes; a program of this machine has 1
	root   = "/sys/fs/cgroup"
)

// groups is the control groups of all nodes. The group of a node contains one for its worker and
// tasks, and one for its hogs.
type groups struct {
	name  string
	cpu   string // folder of the controller of CPU time
	count string // folder of the CPU time counters
	v2    bool
	nodes int
	cores float64 // of a node
	hogs  map[int][]*exec.Cmd
}

// newGroups creates the groups of the nodes.
func newGroups(nodes int, cores float64) (*groups, error) {
	g := &groups{name: fmt.Sprintf("berth-stragglers-%d", os.Getpid()), cpu: filepath.Join(root, "cpu"), count: filepath.Join(root, "cpuacct"), nodes: nodes, cores: cores,
		hogs: make(map[int][]*exec.Cmd)}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		g.v2, g.cpu, g.count = true, root, root
		if err := put(filepath.Join(root, "cgroup.subtree_control"), "+cpu"); err != nil {
			return nil, err
		}
	}
	for i := range nodes {
		for _, part := range []string{"work", "hog"} {
			for _, controller := range []string{g.cpu, g.count} {
				if err := os.MkdirAll(filepath.Join(controller, g.node(i), part), 0o755); err != nil {
					return nil, err
				}
			}
		}
		if g.v2 {
			for _, dir := range []string{g.name, g.node(i)} {
				if err := put(filepath.Join(root, dir, "cgroup.subtree_control"), "+cpu"); err != nil {
					return nil, err
				}
			}
		}
		if err := g.limit(i, 1); err != nil {
			return nil, err
		}
	}
	if g.v2 {
		return g, put(filepath.Join(root, g.name, "cpu.weight"), strconv.Itoa(100*weight))
	}
	return g, put(filepath.Join(g.cpu, g.name, "cpu.shares"), strconv.Itoa(1024*weight))
}

// each calls do for each node.
func (g *groups) each(do func(node int) error) (err error) {
	for i := range g.nodes {
		err = errors.Join(err, do(i))
	}
	return err
}

func (g *groups) node(i int) string { return filepath.Join(g.name, fmt.Sprintf("n%d", i)) }

// limit limits the node to a fraction of its part of a core.
func (g *groups) limit(i int, share float64) error {
	quota := strconv.FormatInt(int64(g.cores*share*float64(period.Microseconds())), 10)
	span := strconv.FormatInt(period.Microseconds(), 10)
	dir := filepath.Join(g.cpu, g.node(i))
	if g.v2 {
		return put(filepath.Join(dir, "cpu.max"), quota+" "+span)
	}
	return errors.Join(put(filepath.Join(dir, "cpu.cfs_period_us"), span), put(filepath.Join(dir, "cpu.cfs_quota_us"), quota))
}

// hog starts a program that computes on a node as much as loops tasks. All share one core: on two
// cores they would run side by side, each with half of the node's limit, whatever their weights.
func (g *groups) hog(i, loops int) error {
	core := strconv.Itoa(i % runtime.NumCPU())
	there, err := os.ReadFile(filepath.Join(g.cpu, g.node(i), "work", "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range strings.Fields(string(there)) {
		_ = exec.Command("taskset", "-a", "-c", "-p", core, pid).Run() // the process may have ended
	}
	name, share := "cpu.shares", 1024*loops
	if g.v2 {
		name, share = "cpu.weight", 100*loops
	}
	if err := put(filepath.Join(g.cpu, g.node(i), "hog", name), strconv.Itoa(share)); err != nil {
		return err
	}
	cmd := exec.Command("taskset", "-c", core, "/bin/sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.hogs[i] = append(g.hogs[i], cmd)
	return g.put(i, "hog", cmd.Process.Pid)
}

// calm ends the hogs of a node and restores its whole part of the core.
func (g *groups) calm(i int) error {
	for _, cmd := range g.hogs[i] {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	delete(g.hogs, i)
	return g.limit(i, 1)
}

// put moves a process into a group of the node.
func (g *groups) put(i int, part string, pid int) error {
	err := put(filepath.Join(g.cpu, g.node(i), part, "cgroup.procs"), strconv.Itoa(pid))
	if !g.v2 {
		err = errors.Join(err, put(filepath.Join(g.count, g.node(i), part, "cgroup.procs"), strconv.Itoa(pid)))
	}
	return err
}

// used returns the CPU seconds of the workers and tasks of all nodes, without the hogs.
func (g *groups) used() (sum float64, err error) {
	for i := range g.nodes {
		dir := filepath.Join(g.count, g.node(i), "work")
		text, unit, name := "", 1e9, "cpuacct.usage"
		if g.v2 {
			unit, name = 1e6, "cpu.stat"
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		text = strings.TrimPrefix(string(b), "usage_usec ") // the first line of cpu.stat
		text, _, _ = strings.Cut(text, "\n")
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return 0, err
		}
		sum += n / unit
	}
	return sum, nil
}

// remove kills the processes that remain in our groups, and removes the groups.
func (g *groups) remove() {
	for i := range g.hogs {
		_ = g.calm(i)
	}
	for range 100 {
		left := false
		for _, controller := range []string{g.cpu, g.count} {
			dirs, _ := filepath.Glob(filepath.Join(controller, g.name, "*", "*"))
			for _, dir := range dirs {
				b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
				for _, pid := range strings.Fields(string(b)) {
					if n, err := strconv.Atoi(pid); err == nil {
						_ = syscall.Kill(n, syscall.SIGKILL)
					}
				}
				_ = os.Remove(dir)
				_ = os.Remove(filepath.Dir(dir))
			}
			_ = os.Remove(filepath.Join(controller, g.name))
			_, err := os.Stat(filepath.Join(controller, g.name))
			left = left || err == nil
		}
		if !left {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func put(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0); err != nil {
		return fmt.Errorf("write %s: %w", text, err)
	}
	return nil
}
