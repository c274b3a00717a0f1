package local

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/sys/gpus"
)

// Machine is the machine that berth runs on.
type Machine struct {
	Host     string
	CPUs     []int  // ids of the cores on which this user's processes may run
	Cores    int    // how many of them tasks may use at once; fewer than CPUs if a control group or batch job has no more
	Only     []int  // ids of the cores for the tasks of the user's command, as AllocRequest.Only
	Mem      int64  // memory, bytes: the machine's, or the least limit of its control groups
	CPUModel string // the kernel's name of the CPU
	GPUs     gpus.Devices
}

// ThisMachine returns a description of this machine.
func ThisMachine() (Machine, error) {
	cpus, err := allCPUs()
	if err != nil {
		return Machine{}, fmt.Errorf("read the CPUs this process may use: %w", err)
	}
	m := Machine{CPUs: cpus, Cores: len(cpus), CPUModel: cpuModel(), GPUs: gpus.OfMachine(os.Environ(), "/")}
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it there are no limits
	limits := readGroups(string(groups), "/sys/fs/cgroup")
	if limits.cores > 0 {
		m.Cores = min(m.Cores, max(1, int(limits.cores)))
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return Machine{}, fmt.Errorf("read the size of memory: %w", err)
	}
	m.Mem = int64(info.Totalram) * int64(info.Unit)
	if limits.mem > 0 {
		m.Mem = min(m.Mem, limits.mem)
	}
	host, _ := os.Hostname()
	m.Host = cmp.Or(host, "localhost")
	return m, nil
}

// NodeType returns the machine's type (see predict.NodeType).
func (m *Machine) NodeType() string { return predict.NodeType(m.CPUModel, len(m.CPUs)) }

// Capacity returns the resources for tasks.
func (m Machine) Capacity() job.Resources {
	return job.Resources{CPUs: m.Cores, Mem: m.Mem, GPUs: m.GPUs.Count, GPUType: m.GPUs.Type}
}

// Snapshot returns the machine as a cluster of one node, which is free.
func (m Machine) Snapshot(at job.Time) cluster.Snapshot {
	node := cluster.Node{Name: m.Host, Capacity: m.Capacity(), Free: m.Capacity(), Only: m.Only}
	return cluster.Snapshot{Driver: Name, At: at, Nodes: []cluster.Node{node}}
}
