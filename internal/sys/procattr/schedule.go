package procattr

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// policyFlags are the flags of chrt(1) for scheduling policies (sched(7)).
var policyFlags = map[uint32]string{
	unix.SCHED_NORMAL: "--other", unix.SCHED_FIFO: "--fifo", unix.SCHED_RR: "--rr", unix.SCHED_BATCH: "--batch", unix.SCHED_IDLE: "--idle",
}

// policy returns the scheduling policy of this thread, with its priority, as flags of chrt(1), or "" if it is none of them.
func policy() string {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || policyFlags[attr.Policy] == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", policyFlags[attr.Policy], attr.Priority)
}

// Of ioprio_get(2), which has no names in package unix.
const (
	ioOfProcess  = 1
	ioClassShift = 13
	ioIdle       = 3
)

// ioClass returns the class of this thread's disk accesses, with its priority, as flags of ionice(1), or "" if the kernel
// does not tell it.
func ioClass() string {
	prio, _, errno := unix.Syscall(unix.SYS_IOPRIO_GET, ioOfProcess, 0, 0)
	class := prio >> ioClassShift
	switch {
	case errno != 0:
		return ""
	case class == 0, class == ioIdle:
		return fmt.Sprintf("-c %d", class)
	}
	return fmt.Sprintf("-c %d -n %d", class, prio&7)
}

const oomFile = "/proc/self/oom_score_adj"

// oomAdjust returns how soon the kernel ends this process for lack of memory (proc(5), oom_score_adj), or nil if it does not
// tell.
func oomAdjust() *int {
	text, err := os.ReadFile(oomFile)
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil
	}
	return &n
}

// NeutralThread gives the calling thread the nice value, cores, scheduling and disk priority of a process that nobody has
// changed, as far as this user may. Processes that the thread starts inherit them.
func NeutralThread() {
	var all unix.CPUSet
	for id := range len(all) * strconv.IntSize {
		all.Set(id)
	}
	_ = unix.SchedSetaffinity(0, &all)
	if attr, err := unix.SchedGetAttr(0, 0); err == nil { // the nice value, which this user may not be allowed to lower, stays
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: attr.Nice}, 0)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 0)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioOfProcess, 0, 0)
}

// raised are the limits of a job's own programs that would end or hinder a coordinator or worker.
var raised = []int{unix.RLIMIT_AS, unix.RLIMIT_CPU, unix.RLIMIT_DATA, unix.RLIMIT_FSIZE, unix.RLIMIT_NPROC}

// NeutralProcess does for this process what NeutralThread does for a thread: it raises soft limits to the hard ones, and sets
// oom_score_adj to 0, as far as this user may.
func NeutralProcess() {
	for _, id := range raised {
		var l unix.Rlimit
		if unix.Getrlimit(id, &l) == nil && l.Cur < l.Max {
			_ = unix.Setrlimit(id, &unix.Rlimit{Cur: l.Max, Max: l.Max})
		}
	}
	_ = os.WriteFile(oomFile, []byte("0"), 0)
}

// Kept returns what a job wants that a coordinator with that process id keeps its tasks from having: its nice value, if it
// is higher and this user may not lower it. It returns "" if there is nothing of that kind.
func Kept(coordinator int, want *job.Inherit) string {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, coordinator)
	if err != nil || want == nil || want.Nice == nil {
		return ""
	}
	has := 20 - raw
	var l unix.Rlimit
	if has <= *want.Nice || os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NICE, &l) == nil && l.Cur >= uint64(20-*want.Nice) {
		return ""
	}
	return fmt.Sprintf("tasks have the nice value %d instead of %d, as the coordinator began with it and you may not lower it; "+
		"berth server stop ends it, and the next command starts another", has, *want.Nice)
}
