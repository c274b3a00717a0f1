// Package slurmtest gives each test its own real Slurm cluster: munged, slurmctld and one slurmd for
// each node, all on this machine, started by scripts/slurm.sh. Start starts a cluster that ends with
// the test.
package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The names of the daemons of a cluster. The daemon of a node has the name of the node.
const (
	Ctld  = "ctld"
	Munge = "munge"
)

// The partitions of every cluster. Jobs in Short end after ten minutes and have at most four nodes.
// Main, the default partition, has no limits.
const (
	Main  = "main"
	Short = "short"
)

// patientKill gives processes time to end on SIGTERM on a busy machine. 30 s is also Slurm's
// default.
const patientKill = "KillWait=30"

// Cluster is a Slurm cluster that ends with the test. Its nodes are n1, n2, ….
type Cluster struct {
	Dir   string // a folder that all nodes share and the test may use; removed at the end
	home  string // the cluster's own folder, below Dir
	shape shape
}

// shape is the configuration of a cluster.
type shape struct {
	nodes, cpus, memory int
	gpus                string
	extra               []string
	name, accounting    string              // empty: the script's defaults
	user                *syscall.Credential // nil: the user who runs the test
}

// An Option changes the cluster that Start makes.
type Option func(*shape)

// Nodes sets the number of nodes; default 8.
func Nodes(n int) Option { return func(s *shape) { s.nodes = n } }

// CPUs sets the CPUs of each node, independent of the machine; default 2.
func CPUs(n int) Option { return func(s *shape) { s.cpus = n } }

// Memory sets the memory of each node in MB, independent of the machine; default 2000.
func Memory(mb int) Option { return func(s *shape) { s.memory = mb } }

// GPUs gives nodes GPUs, in the order of their numbers: "2:4:a100 1:2:v100" is four of type a100 for n1 and for n2, and two
// of type v100 for n3. Their devices are links to /dev/null.
func GPUs(groups string) Option { return func(s *shape) { s.gpus = groups } }

// Extra adds a line to slurm.conf. It replaces the value of a key that is already set; lines of
// PartitionName and NodeName are added.
func Extra(line string) Option { return func(s *shape) { s.extra = append(s.extra, line) } }

// Accounting gives the cluster a database and a slurmdbd, which enforces limits of associations and
// QOS. With another cluster it uses that cluster's; then the name must differ. The user who runs the
// test is in the account "main".
func Accounting(name string, of *Cluster) Option {
	return func(s *shape) {
		if s.name, s.accounting = name, "own"; of != nil {
			s.accounting = of.home
		}
	}
}

// Start starts a cluster that ends with the test, or with the test process if that dies. It fails
// the test if Slurm is not installed, and skips it if BERTH_NO_SLURM is set.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	if os.Getenv("BERTH_NO_SLURM") != "" {
		tb.Skip("BERTH_NO_SLURM is set: no tests with Slurm")
	}
	c := &Cluster{shape: shape{nodes: 8, cpus: 2, memory: 2000, extra: []string{patientKill}}}
	for _, o := range opts {
		o(&c.shape)
	}
	if err := c.prepare(); err != nil {
		tb.Fatal(err)
	}
	c.keep(tb)
	if err := c.try("up", c.home); err != nil {
		tb.Fatalf("%v\nscripts/slurm.sh deps acct installs what is missing; BERTH_NO_SLURM=1 skips these tests", err)
	}
	return c
}

// prepare creates the folders, and a copy of the script that any user can read. The paths are short,
// because paths of sockets must be, unlike those of a test's temporary folder.
func (c *Cluster) prepare() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	parent := os.TempDir()
	if len(parent) > 30 {
		parent = "/tmp"
	}
	if c.Dir, err = os.MkdirTemp(parent, "slurm"); err != nil {
		return err
	}
	c.home = filepath.Join(c.Dir, "cluster")
	if err := c.copyScripts(filepath.Join(root, "scripts")); err != nil {
		return err
	}
	if err := os.Chmod(c.Dir, 0o755); err != nil {
		return err
	}
	if u := c.shape.user; u != nil {
		return os.Chown(c.Dir, int(u.Uid), int(u.Gid))
	}
	return nil
}

// moduleRoot returns the folder of go.mod, at or above that of the test.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("slurmtest: no go.mod at or above %s", dir)
		}
	}
}

// keep starts a process that takes the cluster down when it reads the end of a pipe. The test closes
// the other end, and so does the kernel when the test process dies.
func (c *Cluster) keep(tb testing.TB) {
	tb.Helper()
	keeper := exec.Command("bash", "-c", `cat >/dev/null; "$0/slurm.sh" down "$0/cluster" && rm -rf "$0"`, c.Dir)
	keeper.Env, keeper.Dir = c.environ(), "/"
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.shape.user}
	var said strings.Builder
	keeper.Stderr = &said
	life, err := keeper.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("slurmctld's log ends:\n%s", c.logTail(60))
		}
		_ = life.Close()
		if err := keeper.Wait(); err != nil {
			tb.Errorf("taking the cluster down: %v: %s", err, said.String())
		}
	})
}

// logTail returns the last lines of slurmctld's log.
func (c *Cluster) logTail(lines int) string {
	log, err := os.ReadFile(filepath.Join(c.home, "log", "slurmctld.log"))
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(string(log), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// copyScripts copies the scripts of a cluster. No process starts meanwhile, as it would have the copy open for writing until it
// executes its program, and the kernel refuses to execute a file that is open for writing.
func (c *Cluster) copyScripts(from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, name := range []string{"slurm.sh", "slurm-conf.sh", "slurm-acct.sh"} {
		script, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.Dir, name), script, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// tries is the number of runs of slurm.sh for the same action. It waits for daemons for a minute,
// which may be too short on a busy machine, and continues where it was when it is run again.
const tries = 3

// try runs slurm.sh, and again if it fails.
func (c *Cluster) try(args ...string) (err error) {
	for range tries {
		if _, err = c.output(filepath.Join(c.Dir, "slurm.sh"), args...); err == nil {
			break
		}
	}
	return err
}

// environ is the environment of the cluster's commands: ours without that of another cluster, with
// this cluster's and its shape.
func (c *Cluster) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !ofSlurm(kv) {
			env = append(env, kv)
		}
	}
	return append(append(env, c.Env()...),
		"SLURM_NODES="+strconv.Itoa(c.shape.nodes), "SLURM_CPUS="+strconv.Itoa(c.shape.cpus),
		"SLURM_NAME="+c.shape.name, "SLURM_ACCT="+c.shape.accounting, "SLURM_MEM="+strconv.Itoa(c.shape.memory), "SLURM_GPUS="+c.shape.gpus, "SLURM_EXTRA="+strings.Join(c.shape.extra, "\n"))
}

// ofSlurm reports whether Slurm reads the variable, or sets it for jobs.
func ofSlurm(kv string) bool {
	for _, prefix := range []string{"SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SINFO_", "SCANCEL_"} {
		if strings.HasPrefix(kv, prefix) {
			return true
		}
	}
	return false
}

// Env returns the environment variables with which Slurm's commands use this cluster.
func (c *Cluster) Env() []string { return []string{"SLURM_CONF=" + c.home + "/slurm.conf"} }

// Setenv makes the test process and its children use this cluster until the test ends, and hides the
// environment of other clusters.
func (c *Cluster) Setenv(tb testing.TB) {
	tb.Helper()
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); ofSlurm(kv) {
			tb.Setenv(name, value) // so that it is restored at the end
			_ = os.Unsetenv(name)
		}
	}
	for _, kv := range c.Env() {
		name, value, _ := strings.Cut(kv, "=")
		tb.Setenv(name, value)
	}
}

// Run runs a command of Slurm in the cluster's folder and returns its standard output without
// surrounding white space. The test fails if the command fails.
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
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = c.environ(), c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.shape.user}
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %q: %w: %s", name, args, err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Stop kills a daemon with SIGKILL: Ctld, Munge or the slurmd of a node. Job steps on that node
// continue.
func (c *Cluster) Stop(tb testing.TB, daemon string) { tb.Helper(); c.control(tb, "stop", daemon) }

// Start starts a stopped daemon and waits until it works again.
func (c *Cluster) Start(tb testing.TB, daemon string) { tb.Helper(); c.control(tb, "start", daemon) }

// Crash kills all processes of a node with SIGKILL: slurmd, steps and their tasks. Start brings the
// node back.
func (c *Cluster) Crash(tb testing.TB, node string) { tb.Helper(); c.control(tb, "crash", node) }

func (c *Cluster) control(tb testing.TB, what, daemon string) {
	tb.Helper()
	if err := c.try(what, c.home, daemon); err != nil {
		tb.Fatal(err)
	}
}
