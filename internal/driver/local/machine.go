package local

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/sys/gpus"
)

// Machine is the machine that berth runs on.
type Machine struct {
	Host     string
	CPUs     []int  // ids of the cores on which this process may run
	Mem      int64  // memory, bytes: the machine's, or the control group's limit if that is smaller
	CPUModel string // the kernel's name of the CPU
	GPUs     gpus.Devices
}

// ThisMachine returns a description of this machine.
func ThisMachine() (Machine, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return Machine{}, fmt.Errorf("read the CPUs this process may use: %w", err)
	}
	m := Machine{CPUModel: cpuModel(), GPUs: gpus.OfMachine(os.Environ(), "/")}
	for id := 0; len(m.CPUs) < set.Count(); id++ {
		if set.IsSet(id) {
			m.CPUs = append(m.CPUs, id)
		}
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return Machine{}, fmt.Errorf("read the size of memory: %w", err)
	}
	m.Mem = int64(info.Totalram) * int64(info.Unit)
	if limit, ok := cgroupLimit(); ok && limit < m.Mem {
		m.Mem = limit
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	m.Host = host
	return m, nil
}

// NodeType returns the machine's type (see predict.NodeType).
func (m *Machine) NodeType() string { return predict.NodeType(m.CPUModel, len(m.CPUs)) }

// cgroupLimit returns the memory limit, bytes, of this process's control group (version 2).
func cgroupLimit() (int64, bool) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "0::")
	if !ok {
		return 0, false
	}
	b, err = os.ReadFile("/sys/fs/cgroup" + path + "/memory.max")
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil // "max" means that there is no limit
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer func() { _ = f.Close() }()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if name, value, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// Capacity returns the resources for tasks.
func (m Machine) Capacity() job.Resources {
	return job.Resources{CPUs: len(m.CPUs), Mem: m.Mem, GPUs: m.GPUs.Count, GPUType: m.GPUs.Type}
}

// Snapshot returns the machine as a cluster of one node. All resources except used are free.
func (m Machine) Snapshot(at job.Time, used job.Resources) cluster.Snapshot {
	node := cluster.Node{Name: m.Host, Capacity: m.Capacity(), Free: m.Capacity().Minus(used)}
	return cluster.Snapshot{Driver: Name, At: at, Nodes: []cluster.Node{node}}
}
