package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nodes is the number of nodes of the cluster.
const nodes = 3

// capacity is the resources of a node.
type capacity struct {
	Cores int `json:"cores"`
	Mem   int `json:"mem_mb"`
	Net   int `json:"net_mbit"`  // in each direction
	Disk  int `json:"disk_mb_s"` // for reading and for writing
}

// cluster is a private Slurm on nodes of this machine.
type cluster struct {
	scripts    string
	nodes, dir string // folders of nodes.sh and of slurm.sh
	address    string // of this machine on the nodes' network
	unlimited  []string
	gauges     []*gauge
}

// startCluster starts the nodes, lets fill write data to their disks, limits the disks, and starts
// Slurm.
func startCluster(ctx context.Context, scripts, root string, has capacity, fill func(*cluster) error) (*cluster, error) {
	c := &cluster{scripts: scripts, nodes: filepath.Join(root, "n"), dir: filepath.Join(root, "s")}
	shape := []string{"NODES=" + strconv.Itoa(nodes), fmt.Sprintf("NODE_CPU=%d", has.Cores), fmt.Sprintf("NODE_MEM=%d", has.Mem),
		fmt.Sprintf("NODE_NET=%d", has.Net), fmt.Sprintf("NODE_DISK=%d", has.Disk)}
	if _, err := c.output(ctx, shape, "nodes.sh", "up", c.nodes); err != nil {
		return nil, err
	}
	if err := fill(c); err != nil {
		return nil, err
	}
	if _, err := c.output(ctx, nil, "nodes.sh", "head", c.nodes, strconv.Itoa(os.Getpid())); err != nil {
		return nil, err
	}
	said, err := c.output(ctx, nil, "nodes.sh", "limit", c.nodes)
	if err != nil {
		return nil, err
	}
	if said != "" {
		c.unlimited = strings.Split(said, "\n")
	}
	net, err := c.output(ctx, nil, "nodes.sh", "address", c.nodes)
	if err != nil {
		return nil, err
	}
	c.address = net + ".1"
	slurm := []string{"SLURM_NODES=" + strconv.Itoa(nodes), "SLURM_NET=" + net, fmt.Sprintf("SLURM_CPUS=%d", has.Cores), fmt.Sprintf("SLURM_MEM=%d", has.Mem),
		"SLURM_WITHIN=" + filepath.Join(scripts, "nodes.sh") + " run " + c.nodes}
	if _, err := c.output(ctx, slurm, "slurm.sh", "up", c.dir); err != nil {
		return nil, err
	}
	for i := range nodes {
		g, err := c.gauge(ctx, fmt.Sprintf("n%d", i+1))
		if err != nil {
			return nil, err
		}
		c.gauges = append(c.gauges, g)
	}
	return c, nil
}

// disk is the folder of each node's own disk, as seen on the node.
func (c *cluster) disk() string { return filepath.Join(c.nodes, "disk") }

// diskOf is the folder of the disk of node i, as seen on this machine.
func (c *cluster) diskOf(i int) string { return filepath.Join(c.nodes, fmt.Sprintf("n%d", i+1)) }

// env is the environment of programs that use this cluster.
func (c *cluster) env(more ...string) []string {
	return append(plainEnv(more...), "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"), "BERTH_LISTEN="+c.address)
}

// plainEnv is our environment without variables of another cluster or another berth.
func plainEnv(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SLURM") && !strings.HasPrefix(kv, "SBATCH_") && !strings.HasPrefix(kv, "BERTH_") {
			env = append(env, kv)
		}
	}
	return append(env, more...)
}

// output runs one of the scripts and returns its output without surrounding white space.
func (c *cluster) output(ctx context.Context, env []string, script string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.scripts, script), args...)
	cmd.Env = plainEnv(env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for this process only
	cmd.WaitDelay = 5 * time.Second                       // a daemon that up started may keep the pipe open
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", script, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// keep starts a process that ends our coordinators, takes the cluster down and removes our folder
// when it reads the end of a pipe. We close the other end, and so does the kernel when we die. An
// interrupted command may still write a moment later, so the folder is removed twice.
func (b *bench) keep() error {
	keeper := exec.Command("bash", "-c", `cat >/dev/null
for s in "$0"/state/*/; do XDG_STATE_HOME=$s "$0/berth" server stop --force; done >/dev/null 2>&1
"$0/scripts/slurm.sh" down "$0/s"; "$0/scripts/nodes.sh" down "$0/n" && rm -rf "$0" && sleep 1 && rm -rf "$0"`, b.root)
	keeper.Env, keeper.Dir = plainEnv("SLURM_CONF="+filepath.Join(b.root, "s", "slurm.conf")), "/"
	keeper.Stderr = os.Stderr
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	life, err := keeper.StdinPipe()
	if err != nil {
		return err
	}
	if err := keeper.Start(); err != nil {
		return err
	}
	b.leave = func() {
		_ = life.Close()
		if err := keeper.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "phases: taking the cluster down:", err)
		}
	}
	return nil
}
