// Package pbstest gives tests a real OpenPBS: PostgreSQL, a server, a scheduler, and one mom for each node, all on this machine,
// started by scripts/pbs.sh. Its methods are those of slurmtest where they mean the same.
package pbstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/test/support/bed"
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

// Cluster is a PBS cluster.
type Cluster struct {
	*bed.Bed
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
	need(tb)
	c := newCluster(opts)
	c.Bed.Start(tb)
	return c
}

var shared bed.Shared[*Cluster]

// Shared starts a cluster that all tests of a package use. TestMain ends it with EndShared.
func Shared(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	need(tb)
	return shared.Get(tb, func() (*Cluster, func() error, error) {
		c := newCluster(opts)
		end, err := c.Up()
		return c, end, err
	})
}

// EndShared ends the cluster that Shared has started, if any.
func EndShared() error { return shared.End() }

// need skips the test where there is no PBS.
func need(tb testing.TB) {
	tb.Helper()
	if out, err := bed.Find("pbs.sh", "found"); err != nil {
		tb.Skip(strings.TrimPrefix(out, "pbs.sh: "))
	}
}

func newCluster(opts []Option) *Cluster {
	c := &Cluster{shape: shape{nodes: 4, cpus: 2, memory: "2gb"}}
	for _, o := range opts {
		o(&c.shape)
	}
	c.Bed = &bed.Bed{Config: bed.Config{Scripts: []string{"pbs.sh"}, Environ: c.environ, Bin: "pbs/bin", Log: "home/server_logs/*",
		Help: "scripts/pbs.sh deps installs what is missing"}}
	return c
}

// Env returns the environment variables with which PBS's commands use this cluster, and berth finds them.
func (c *Cluster) Env() []string {
	return []string{"PBS_CONF_FILE=" + c.Home + "/pbs.conf", "PATH=" + c.Home + "/pbs/bin:" + os.Getenv("PATH")}
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
func (c *Cluster) Setenv(tb testing.TB) { tb.Helper(); bed.Setenv(tb, c.Env()) }

// Node returns the name of a node: 1 is the first.
func (c *Cluster) Node(tb testing.TB, n int) string {
	tb.Helper()
	for line := range strings.Lines(c.Run(tb, "cat", filepath.Join(c.Home, "bed"))) {
		if base, ok := strings.CutPrefix(strings.TrimSpace(line), "BASE="); ok {
			port, _ := strconv.Atoi(base)
			return fmt.Sprintf("b%dn%d", (port-17200)/100+1, n)
		}
	}
	tb.Fatal("the bed has no ports")
	return ""
}

// Stop kills a daemon with SIGKILL: Server, Sched, Comm or the mom of a node. Jobs continue.
func (c *Cluster) Stop(tb testing.TB, daemon string) { tb.Helper(); c.Control(tb, "stop", daemon) }

// Start starts a daemon again; that of the server answers then.
func (c *Cluster) Start(tb testing.TB, daemon string) { tb.Helper(); c.Control(tb, "start", daemon) }

// Crash kills all processes of a node with SIGKILL: mom, jobs and their tasks. Start brings the node back.
func (c *Cluster) Crash(tb testing.TB, node string) { tb.Helper(); c.Control(tb, "crash", node) }

// Pause stops a daemon, so that it does not answer, until Continue.
func (c *Cluster) Pause(tb testing.TB, daemon string) { tb.Helper(); c.Control(tb, "pause", daemon) }

// Continue lets a daemon that Pause has stopped go on.
func (c *Cluster) Continue(tb testing.TB, daemon string) {
	tb.Helper()
	c.Control(tb, "continue", daemon)
}
