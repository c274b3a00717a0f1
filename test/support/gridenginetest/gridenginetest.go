// Package gridenginetest gives tests a real Grid Engine: a qmaster, and hosts that are network namespaces of this machine, started
// by scripts/gridengine.sh. Its methods are those of slurmtest where they mean the same.
package gridenginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Master is the name of the qmaster. Nodes are n1, n2, …, their daemons execd1, execd2, ….
const Master = "master"

// The queues of every cluster. Jobs in Short end after ten minutes, jobs in Narrow have one host, nobody may use Closed.
const (
	Main   = "all.q"
	Short  = "short.q"
	Closed = "closed.q"
	Narrow = "narrow.q"
)

const (
	// patience limits each wait of a test.
	patience = 5 * time.Minute
	// pollEvery is the time between two polls; Grid Engine does not report changes.
	pollEvery = 100 * time.Millisecond
)

// Cluster is a Grid Engine.
type Cluster struct {
	Dir  string // a folder that all nodes share and the test may use; removed at the end
	home string // the cluster's own folder, below Dir
	set  []string
}

// An Option is a setting of scripts/gridengine.sh.
type Option string

// Nodes sets the number of nodes; default 3.
func Nodes(n int) Option { return Option("GE_NODES=" + strconv.Itoa(n)) }

// Slots sets the slots of each node, independent of the machine; default 2.
func Slots(n int) Option { return Option("GE_SLOTS=" + strconv.Itoa(n)) }

// Memory sets the memory of each node, independent of the machine; default 16G.
func Memory(size string) Option { return Option("GE_MEM=" + size) }

// DefaultMemory sets what a job has that requests no memory; default 1G, that of Grid Engine is 0.
func DefaultMemory(size string) Option { return Option("GE_VMEM=" + size) }

// Scheduler and Global change a line of the configuration of the scheduler, or of the cluster.
func Scheduler(line string) Option { return Option("GE_SCHED=" + line) }
func Global(line string) Option    { return Option("GE_CONF=" + line) }

// need skips the test where no cluster can be started by choice or by lack of rights.
func need(tb testing.TB) {
	tb.Helper()
	if os.Getenv("BERTH_NO_GRIDENGINE") != "" {
		tb.Skip("BERTH_NO_GRIDENGINE is set: no tests with Grid Engine")
	}
	if os.Getuid() != 0 {
		tb.Skip("a private Grid Engine needs root, for network namespaces")
	}
}

// Start starts a cluster that ends with the test, or with the test process if that dies.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	need(tb)
	c, end, err := start(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the qmaster's messages end:\n%s", c.logTail(40))
		}
		if err := end(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

var (
	once      sync.Once
	shared    *Cluster
	endShared = func() error { return nil }
	errShared error
)

// Shared starts a cluster that all tests of a package use. TestMain ends it with EndShared.
func Shared(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	need(tb)
	once.Do(func() {
		c, end, err := start(opts)
		if errShared = err; err == nil {
			shared, endShared = c, end
		}
	})
	if errShared != nil {
		tb.Fatal(errShared)
	}
	return shared
}

// EndShared ends the cluster that Shared has started, if any.
func EndShared() error { return endShared() }

// start starts a cluster. The function ends it.
func start(opts []Option) (*Cluster, func() error, error) {
	c := &Cluster{set: []string{"GE_NODES=3"}}
	for _, o := range opts {
		c.set = append(c.set, string(o))
	}
	if err := c.prepare(); err != nil {
		return nil, nil, err
	}
	end, err := c.keep()
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.output(c.script(), "up", c.home); err != nil {
		return nil, nil, fmt.Errorf("%w\nscripts/gridengine.sh deps installs what is missing; BERTH_NO_GRIDENGINE=1 skips these tests (%v)", err, end())
	}
	return c, end, nil
}

func (c *Cluster) script() string { return filepath.Join(c.Dir, "gridengine.sh") }

// prepare creates the folder, with a copy of the script, so that the cluster can be ended when the checkout is gone.
func (c *Cluster) prepare() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if c.Dir, err = os.MkdirTemp("/tmp", "gridengine"); err != nil {
		return err
	}
	c.home = filepath.Join(c.Dir, "cluster")
	script, err := os.ReadFile(filepath.Join(root, "scripts", "gridengine.sh"))
	if err != nil {
		return err
	}
	syscall.ForkLock.RLock() // a process that starts now would have the copy open for writing, and the kernel would refuse to execute it
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(c.script(), script, 0o755); err != nil {
		return err
	}
	return os.Chmod(c.Dir, 0o755)
}

// moduleRoot returns the folder of go.mod, at or above that of the test.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
	}
	return "", fmt.Errorf("gridenginetest: no go.mod at or above %s", dir)
}

// keep starts a process that takes the cluster down when it reads the end of a pipe. The returned function closes the other end,
// and so does the kernel when the test process dies.
func (c *Cluster) keep() (end func() error, err error) {
	keeper := exec.Command("bash", "-c", `cat >/dev/null; "$0/gridengine.sh" down "$0/cluster" && rm -rf "$0"`, c.Dir)
	keeper.Env, keeper.Dir = c.environ(), "/"
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
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

// logTail returns the last lines of the qmaster's messages.
func (c *Cluster) logTail(lines int) string {
	log, err := os.ReadFile(filepath.Join(c.home, "default", "spool", "qmaster", "messages"))
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(string(log), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// bed returns a value of the file in which the script keeps what it chose.
func (c *Cluster) bed(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.home, "bed")) // none before up
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return v
		}
	}
	return ""
}

// Address is the address of this machine that the nodes reach.
func (c *Cluster) Address() string { return c.bed("NET") + ".1" }

// Node returns the name of a node in Grid Engine: 1 is the first. Nodes of a cluster differ in the number only.
func (c *Cluster) Node(n int) string { return fmt.Sprintf("%sn%d", c.bed("NAME"), n) }

// Env returns the environment variables with which Grid Engine's commands use this cluster, and berth finds them.
func (c *Cluster) Env() []string {
	number, _ := strconv.Atoi(c.bed("NUMBER"))
	return []string{"SGE_ROOT=" + c.home, "SGE_CELL=default", "SGE_CLUSTER_NAME=" + c.bed("NAME"), "SGE_QMASTER_PORT=" + strconv.Itoa(17000+2*number),
		"SGE_EXECD_PORT=" + strconv.Itoa(17001+2*number), "PATH=" + filepath.Join(c.home, "bin", "lx-amd64") + ":" + os.Getenv("PATH")}
}

// environ is the environment of the cluster's commands and of its script.
func (c *Cluster) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SGE_") && !strings.HasPrefix(kv, "GE_") {
			env = append(env, kv)
		}
	}
	return append(append(append(env, c.set...), c.Env()...), "TZ=UTC", "LC_ALL=C")
}

// Run runs a command of Grid Engine in the cluster's folder and returns its standard output without surrounding white space. The
// test fails if the command fails.
func (c *Cluster) Run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	out, err := c.output(name, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Try is Run for commands that may fail; the error contains their output.
func (c *Cluster) Try(name string, args ...string) (string, error) { return c.output(name, args...) }

func (c *Cluster) output(name string, args ...string) (string, error) {
	if program := filepath.Join(c.home, "bin", "lx-amd64", name); filepath.Base(name) == name {
		if _, err := os.Stat(program); err == nil {
			name = program
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = c.environ(), c.Dir
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return strings.TrimSpace(out.String()), fmt.Errorf("%s %q: %w: %s", name, args, err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Kill kills a part with SIGKILL: Master, a node (n1) with all that runs there, or only its daemon (execd1).
func (c *Cluster) Kill(tb testing.TB, part string) { tb.Helper(); c.control(tb, "kill", part) }

// Start starts a part again and waits until it works.
func (c *Cluster) Start(tb testing.TB, part string) { tb.Helper(); c.control(tb, "start", part) }

// Pause stops the qmaster, so that its clients wait, until Start.
func (c *Cluster) Pause(tb testing.TB) { tb.Helper(); c.control(tb, "pause") }

func (c *Cluster) control(tb testing.TB, what string, part ...string) {
	tb.Helper()
	if _, err := c.output(c.script(), append([]string{what, c.home}, part...)...); err != nil {
		tb.Fatal(err)
	}
}

// Fill submits a job that occupies whole nodes or parts of them and sleeps, and returns its id.
func (c *Cluster) Fill(tb testing.TB, nodes, slots int, sleep, limit time.Duration, more ...string) string {
	tb.Helper()
	args := []string{"-N", "fill", "-q", Main, "-R", "y", "-l", "h_vmem=100M,h_rt=" + strconv.Itoa(int(limit.Seconds())), "-pe", fmt.Sprintf("node%d", slots), strconv.Itoa(nodes * slots)}
	return c.Submit(tb, append(append(args, more...), "-b", "y", "/bin/sleep", strconv.FormatFloat(sleep.Seconds(), 'f', -1, 64))...)
}

// Submit runs qsub with the given arguments and returns the job id.
func (c *Cluster) Submit(tb testing.TB, args ...string) string {
	tb.Helper()
	return c.Run(tb, "qsub", append([]string{"-terse", "-o", "/dev/null", "-j", "y"}, args...)...)
}

// State returns the state of a job as qstat prints it: qw, hqw, Eqw, t, r, dr; "" for one that has ended.
func (c *Cluster) State(id string) (string, error) {
	out, err := c.output("qstat", "-u", "*")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 4 && f[0] == id {
			return f[4], err
		}
	}
	return "", err
}

// WaitState waits until a job is in this state.
func (c *Cluster) WaitState(tb testing.TB, id, want string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.State(id)
		return err == nil && s == want, fmt.Sprintf("job %s is %q (%v), want %q", id, s, err, want)
	})
}

// Poll calls ask until it returns true. If that takes too long, the test fails with the last text.
func (c *Cluster) Poll(tb testing.TB, ask func() (bool, string)) {
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
