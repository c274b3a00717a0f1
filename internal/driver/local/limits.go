package local

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// allCPUs returns the ids of the cores on which this user's processes may run, although this process may be bound to some
// of them.
func allCPUs() ([]int, error) {
	var widest, set unix.CPUSet
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with this goroutine
		for id := range len(widest) * strconv.IntSize {
			widest.Set(id)
		}
		_ = unix.SchedSetaffinity(0, &widest) // refused: the cores are those to which this process is bound
		err = unix.SchedGetaffinity(0, &set)
	}()
	<-done
	return ids(&set), err
}

func ids(set *unix.CPUSet) (ids []int) {
	for id := 0; len(ids) < set.Count(); id++ {
		if set.IsSet(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// limit leaves of the machine what this process may use: the cores to which this process is bound, and as
// many of them at once as its batch job has. It returns the reasons, for the user.
func (m *Machine) limit(has driver.BatchCores) (notes []string) {
	var bound unix.CPUSet
	if unix.SchedGetaffinity(0, &bound) == nil && bound.Count() < len(m.CPUs) {
		m.Only = ids(&bound)
		notes = m.reduce(notes, len(m.Only), "this command is bound to them")
	}
	if has.N > 0 && has.N < m.Cores {
		notes = m.reduce(notes, has.N, "its batch job has no more ("+has.Variable+")")
		if m.Only == nil {
			m.Only = m.CPUs
		}
	}
	return notes
}

// reduce lowers the number of cores that tasks may use at once, and adds the reason to the notes.
func (m *Machine) reduce(notes []string, n int, why string) []string {
	if n >= m.Cores {
		return notes
	}
	m.Cores = n
	return append(notes, fmt.Sprintf("%d of %s of this machine: %s", n, job.Count(len(m.CPUs), "core"), why))
}

// groupLimits are the limits of a process's control groups, with those of the groups around them.
type groupLimits struct {
	cores float64 // processor time in each time; 0: no limit
	mem   int64   // bytes; 0: no limit
}

// readGroups returns the limits of the control groups in a text like that of /proc/PID/cgroup (cgroups(7)). The
// hierarchies of version 1 and 2 are below root, as in /sys/fs/cgroup.
func readGroups(groups, root string) (l groupLimits) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			l.read(filepath.Join(root, hierarchy(f[1], root), group))
			if group == "/" {
				break
			}
		}
	}
	return l
}

// hierarchy returns the folder of a hierarchy with these controllers, below root. That of version 2 has none, and is in
// a folder of its own beside those of version 1.
func hierarchy(controllers, root string) string {
	if controllers != "" {
		return controllers
	}
	if _, err := os.Stat(filepath.Join(root, "unified")); err == nil {
		return "unified"
	}
	return ""
}

// read adds the limits of one group: of version 2, and of controllers of version 1, of which it has the files.
func (l *groupLimits) read(dir string) {
	words := func(name string) []string {
		text, _ := os.ReadFile(filepath.Join(dir, name)) // a group without the file has no such limit
		return append(strings.Fields(string(text)), "", "")
	}
	cpu := words("cpu.max")
	l.addCores(cpu[0], cpu[1])
	l.addCores(words("cpu.cfs_quota_us")[0], words("cpu.cfs_period_us")[0])
	l.addMem(words("memory.max")[0])
	l.addMem(words("memory.limit_in_bytes")[0])
}

func (l *groupLimits) addCores(quota, period string) {
	q, err := strconv.ParseFloat(quota, 64) // "max" and −1 mean that there is no limit
	p, perr := strconv.ParseFloat(period, 64)
	if err == nil && perr == nil && q > 0 && p > 0 && (l.cores == 0 || q/p < l.cores) {
		l.cores = q / p
	}
}

func (l *groupLimits) addMem(limit string) {
	if n, err := strconv.ParseInt(limit, 10, 64); err == nil && n > 0 && (l.mem == 0 || n < l.mem) {
		l.mem = n
	}
}

// cpuModel returns the kernel's name of the CPU.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if name, value, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
