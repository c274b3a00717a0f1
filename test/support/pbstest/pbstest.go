// Package pbstest gives tests a real OpenPBS: PostgreSQL, a server, a scheduler, and one mom for each node, all on this machine,
// started by scripts/pbs.sh. Its methods are those of slurmtest where they mean the same.
package pbstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The names of the daemons of a cluster. The daemon of a node has the name of the node.
const (
	Server = "server"
	Sched  = "sched"
	Comm   = "comm"
)

// The queues of every cluster. Jobs in Short end after ten minutes and have at most two nodes. Jobs in Main, the default queue, end
// after two days.
const (
	Main  = "workq"
	Short = "short"
)

const (
	// patience limits each wait of a test.
	patience = 5 * time.Minute
	// tries is how often a cluster is started.
	tries = 3
	// pollEvery is the time between two polls; PBS does not report changes.
	pollEvery = 100 * time.Millisecond
)

// Cluster is a PBS cluster.
type Cluster struct {
	Dir   string // a folder that all nodes share and the test may use; removed at the end
	home  string // the cluster's own folder, below Dir
	shape shape
}

// shape is the configuration of a cluster.
type shape struct {
	nodes, cpus int
	memory      string
	extra       []string
}

// An Option changes the cluster that Start makes.
type Option func(*shape)

// Nodes sets the number of nodes; default 4.
func Nodes(n int) Option { return func(s *shape) { s.nodes = n } }

// CPUs sets the CPUs of each node, independent of the machine; default 2.
func CPUs(n int) Option { return func(s *shape) { s.cpus = n } }

// Memory sets the memory of each node, independent of the machine; default 2gb.
func Memory(size string) Option { return func(s *shape) { s.memory = size } }

// Extra adds a line for qmgr. NODE in it is replaced by the beginning of nodes' names: "set node NODE1 …".
func Extra(line string) Option { return func(s *shape) { s.extra = append(s.extra, line) } }

// Start starts a cluster that ends with the test, or with the test process if that dies. It skips the test, with the reason, where there
// is no PBS (scripts/pbs.sh found).
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	c, end, err := start(tb, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the server's log ends:\n%s", c.logTail(60))
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
		c, end, err := start(tb, opts)
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

// need skips the test where there is no PBS.
func need(tb testing.TB) {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(root, "scripts", "pbs.sh"), "found").CombinedOutput(); err != nil {
		tb.Skip(strings.TrimPrefix(strings.TrimSpace(string(out)), "pbs.sh: "))
	}
}

// start starts a cluster. The function ends it.
func start(tb testing.TB, opts []Option) (*Cluster, func() error, error) {
	tb.Helper()
	need(tb)
	c := &Cluster{shape: shape{nodes: 4, cpus: 2, memory: "2gb"}}
	for _, o := range opts {
		o(&c.shape)
	}
	if err := c.prepare(); err != nil {
		return nil, nil, err
	}
	end, err := c.keep()
	if err != nil {
		return nil, nil, err
	}
	for range tries { // a daemon may need longer than the script waits, on a busy machine
		if _, err = c.output(c.script(), "up", c.home); err == nil {
			return c, end, nil
		}
		_, _ = c.output(c.script(), "down", c.home) // the next try says if something is left
	}
	return nil, nil, fmt.Errorf("%w\nscripts/pbs.sh deps installs what is missing: %w", err, end())
}

func (c *Cluster) script() string { return filepath.Join(c.Dir, "pbs.sh") }

// prepare creates the folder, with a copy of the script, so that the cluster can be ended when the checkout is gone. Its path is
// short, because paths of sockets must be.
func (c *Cluster) prepare() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if c.Dir, err = os.MkdirTemp("/tmp", "pbs"); err != nil {
		return err
	}
	c.home = filepath.Join(c.Dir, "cluster")
	script, err := os.ReadFile(filepath.Join(root, "scripts", "pbs.sh"))
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
	return "", fmt.Errorf("pbstest: no go.mod at or above %s", dir)
}

// keep starts a process that takes the cluster down when it reads the end of a pipe. The returned function closes the other end, and so
// does the kernel when the test process dies.
func (c *Cluster) keep() (end func() error, err error) {
	keeper := exec.Command("bash", "-c", `cat >/dev/null; "$0/pbs.sh" down "$0/cluster" && rm -rf "$0"`, c.Dir)
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

// logTail returns the last lines of the server's log.
func (c *Cluster) logTail(lines int) string {
	logs, _ := filepath.Glob(filepath.Join(c.home, "home", "server_logs", "*"))
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

// Env returns the environment variables with which PBS's commands use this cluster, and berth finds them.
func (c *Cluster) Env() []string {
	return []string{"PBS_CONF_FILE=" + c.home + "/pbs.conf", "PATH=" + c.home + "/pbs/bin:" + os.Getenv("PATH")}
}

// environ is the environment of the cluster's commands and of its script.
func (c *Cluster) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PBS_") || strings.HasPrefix(kv, "PBS_EXEC=") {
			env = append(env, kv)
		}
	}
	return append(append(env, c.Env()...), "TZ=UTC", "LC_ALL=C", "PBS_NODES="+strconv.Itoa(c.shape.nodes), "PBS_CPUS="+strconv.Itoa(c.shape.cpus),
		"PBS_MEM="+c.shape.memory, "PBS_EXTRA="+strings.Join(c.shape.extra, "\n"))
}

// Setenv makes the test process and its children use this cluster until the test ends.
func (c *Cluster) Setenv(tb testing.TB) {
	tb.Helper()
	for _, kv := range c.Env() {
		name, value, _ := strings.Cut(kv, "=")
		tb.Setenv(name, value)
	}
}

// Run runs a command of PBS in the cluster's folder and returns its standard output without surrounding white space. The test fails if the
// command fails.
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
	if program := filepath.Join(c.home, "pbs", "bin", name); filepath.Base(name) == name {
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

// Node returns the name of a node: 1 is the first.
func (c *Cluster) Node(tb testing.TB, n int) string {
	tb.Helper()
	for line := range strings.Lines(c.Run(tb, "cat", filepath.Join(c.home, "bed"))) {
		if base, ok := strings.CutPrefix(strings.TrimSpace(line), "BASE="); ok {
			port, _ := strconv.Atoi(base)
			return fmt.Sprintf("b%dn%d", (port-17200)/100+1, n)
		}
	}
	tb.Fatal("the bed has no ports")
	return ""
}

// Stop kills a daemon with SIGKILL: Server, Sched, Comm or the mom of a node. Jobs continue.
func (c *Cluster) Stop(tb testing.TB, daemon string) { tb.Helper(); c.control(tb, "stop", daemon) }

// Start starts a daemon again; that of the server answers then.
func (c *Cluster) Start(tb testing.TB, daemon string) { tb.Helper(); c.control(tb, "start", daemon) }

// Crash kills all processes of a node with SIGKILL: mom, jobs and their tasks. Start brings the node back.
func (c *Cluster) Crash(tb testing.TB, node string) { tb.Helper(); c.control(tb, "crash", node) }

// Pause stops a daemon, so that it does not answer, until Continue.
func (c *Cluster) Pause(tb testing.TB, daemon string) { tb.Helper(); c.control(tb, "pause", daemon) }

// Continue lets a daemon that Pause has stopped go on.
func (c *Cluster) Continue(tb testing.TB, daemon string) {
	tb.Helper()
	c.control(tb, "continue", daemon)
}

func (c *Cluster) control(tb testing.TB, what, daemon string) {
	tb.Helper()
	if _, err := c.output(c.script(), what, c.home, daemon); err != nil {
		tb.Fatal(err)
	}
}
