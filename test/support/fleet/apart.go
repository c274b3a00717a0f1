package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// birth is what the first process of a machine apart does, in its namespaces, before it becomes the server of ssh: $1 is the machine's name, $2 the folder
// with its disk, $3 its home folder, $4 its address, $5 what limits its link; folders to hide follow up to "--", then the server.
const birth = `set -e
name=$1 disk=$2 home=$3 address=$4 shape=$5
shift 5
mount -t proc proc /proc
while [ "$1" != -- ]; do
	[ ! -d "$1" ] || mount -t tmpfs -o ro hidden "$1"
	shift
done
shift
mount --bind "$disk/home" "$home"
mount --bind "$disk/tmp" /tmp
hostname "$name"
read -r there
ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 up
$shape
exec "$@"`

// namespaces are those that a machine has of its own.
const namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// startApart starts the machine's first process, gives it its link, and lets it go on.
func (h *Host) startApart(server []string, log *os.File) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	limit := "true"
	if h.Rate > 0 {
		limit = shape("eth0", h.Rate)
	}
	words := slices.Concat([]string{"/bin/sh", "-c", birth, "machine", h.Name, filepath.Join(h.dir, diskName), me.HomeDir, h.Addr, limit},
		h.fleet.opts.Hide, []string{"--"}, server)
	cmd := h.command(words, log)
	cmd.SysProcAttr.Cloneflags = namespaces
	cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // has what is mounted there stay there
	there, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	h.unlink() // that of an earlier life goes a while after it
	if err := cmd.Start(); err != nil {
		return err
	}
	h.server = cmd
	err = h.connect(cmd.Process.Pid)
	if err == nil {
		_, err = fmt.Fprintln(there, "go")
	}
	if err = errors.Join(err, there.Close()); err != nil {
		h.reap()
	}
	return err
}

// connect gives the machine its link and has its control group count its processes.
func (h *Host) connect(pid int) error {
	commands := []string{
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", h.link(), pid),
		fmt.Sprintf("ip link set %s master %s up", h.link(), h.fleet.bridge())}
	if h.Rate > 0 {
		commands = append(commands, shape(h.link(), h.Rate))
	}
	if h.fleet.opts.Server > 0 {
		commands = append(commands, h.share()...)
	}
	err := all(commands...)
	for _, g := range h.groups() {
		err = errors.Join(err, put(filepath.Join(g, "cgroup.procs"), strconv.Itoa(pid)))
	}
	return err
}

// unlink takes the machine's link away.
func (h *Host) unlink() {
	_ = run("ip link del %s", h.link())
	if h.fleet.opts.Server > 0 {
		_ = run("tc filter del dev %s parent 1: prio %d", h.fleet.server(), h.number)
	}
}

// Cut cuts the machine off: no packet comes through until Mend.
func (h *Host) Cut() error { return run("ip link set %s down", h.link()) }

// Mend connects the machine again that was cut off.
func (h *Host) Mend() error { return run("ip link set %s up", h.link()) }

const (
	groupRoot = "/sys/fs/cgroup"
	period    = 20 * time.Millisecond // of a limit on processor time: short, so that a machine does not stand still for long
	weight    = 100                   // of all machines for the CPU scheduler; a program of this machine has 1
)

func groupsV2() bool {
	_, err := os.Stat(filepath.Join(groupRoot, "cgroup.controllers"))
	return err == nil
}

// groupParent is the control group below which all others of the kind are.
func groupParent() string {
	if groupsV2() {
		return groupRoot
	}
	return filepath.Join(groupRoot, "cpu")
}

// groupDir is the folder of all control groups of the fleet.
func (f *Fleet) groupDir() string { return filepath.Join(groupParent(), f.bridge()) }

// groups are the control groups of the machine, if any.
func (h *Host) groups() []string {
	if h.Cores == 0 {
		return nil
	}
	return []string{filepath.Join(h.fleet.groupDir(), h.Name)}
}

// limitCores makes the control group that bounds the machine's processor time.
func (h *Host) limitCores() error {
	dir := h.groups()[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	quota, span := strconv.FormatInt(int64(h.Cores*float64(period.Microseconds())), 10), strconv.FormatInt(period.Microseconds(), 10)
	if groupsV2() {
		return errors.Join(put(filepath.Join(groupRoot, "cgroup.subtree_control"), "+cpu"), put(filepath.Join(h.fleet.groupDir(), "cgroup.subtree_control"), "+cpu"),
			put(filepath.Join(h.fleet.groupDir(), "cpu.weight"), strconv.Itoa(100*weight)), put(filepath.Join(dir, "cpu.max"), quota+" "+span))
	}
	return errors.Join(put(filepath.Join(h.fleet.groupDir(), "cpu.shares"), strconv.Itoa(1024*weight)), put(filepath.Join(dir, "cpu.cfs_period_us"), span), put(filepath.Join(dir, "cpu.cfs_quota_us"), quota))
}

// headName is the control group of what is on the user's side.
const headName = "head"

// Head has this process, and what it starts from then on, go before other programs of this machine as the machines do that have a bound. It is for
// measurements: what the machines wait for is no other program of this machine's.
func (f *Fleet) Head() error {
	dir := filepath.Join(f.groupDir(), headName)
	return errors.Join(os.MkdirAll(dir, 0o755), put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid())))
}

// leaveHead takes this process, and what else is there, back to where all others are.
func (f *Fleet) leaveHead() {
	pids, _ := os.ReadFile(filepath.Join(f.groupDir(), headName, "cgroup.procs"))
	for pid := range strings.FieldsSeq(string(pids)) {
		_ = put(filepath.Join(groupParent(), "cgroup.procs"), pid) // it may have ended
	}
}

// removeGroups removes the control groups, in which nothing runs any more, or is about to end.
func (f *Fleet) removeGroups() {
	f.leaveHead()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		dirs, _ := filepath.Glob(filepath.Join(f.groupDir(), "*"))
		for _, d := range dirs {
			_ = syscall.Rmdir(d) // its files are none
		}
		_ = syscall.Rmdir(f.groupDir())
		if _, err := os.Stat(f.groupDir()); err != nil {
			return
		}
	}
}

func put(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0); err != nil {
		return fmt.Errorf("write %s: %w", text, err)
	}
	return nil
}
