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

// birth is what the first process of a machine with Apart does in its namespaces before it becomes
// the ssh server. $1 is the machine's name, $2 the folder with its disk, $3 its home folder, $4 its
// address, $5 the limit of its link; folders to hide follow up to "--", then the server.
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

// namespaces are the kinds of namespaces that a machine has of its own.
const namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// startApart starts the machine's first process, gives it its link, and lets it continue.
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
	cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // mounts stay in the machine's namespace
	there, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	h.unlink() // the link of an earlier start may disappear only later
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

// connect gives the machine its link and adds its processes to its control group. The link has the hardware address of the machine's earlier
// ones, as others would otherwise send to that one for up to a minute.
func (h *Host) connect(pid int) error {
	commands := []string{
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d address 02:00:00:00:%02x:%02x", h.link(), pid, h.fleet.slot, h.number),
		fmt.Sprintf("ip link set %s master %s up", h.link(), h.fleet.bridge())}
	if h.Rate > 0 {
		commands = append(commands, shape(h.link(), h.Rate))
	}
	if h.fleet.opts.Server > 0 {
		commands = append(commands, h.share()...)
	}
	err := all(commands...)
	if err == nil && h.LoseFrom+h.LoseTo > 0 {
		err = h.Lose(h.LoseFrom, h.LoseTo)
	}
	for _, g := range h.groups() {
		err = errors.Join(err, put(filepath.Join(g, "cgroup.procs"), strconv.Itoa(pid)))
	}
	return err
}

// unlink removes the machine's link.
func (h *Host) unlink() {
	_ = run("ip link del %s", h.link())
	if h.LoseFrom > 0 { // the next link of that name would lose packets
		_ = run("nft delete chain netdev %s %s", h.fleet.bridge(), h.link())
	}
	if h.fleet.opts.Server > 0 {
		_ = run("tc filter del dev %s parent 1: prio %d", h.fleet.server(), h.number)
	}
}

// Cut disconnects the machine: no packet passes until Mend.
func (h *Host) Cut() error { return run("ip link set %s down", h.link()) }

// Mend connects the machine again.
func (h *Host) Mend() error { return run("ip link set %s up", h.link()) }

// Lose makes the machine's link lose packets at random: these percentages of what the machine sends and of what is sent to it. With 100 nothing
// passes in that direction. Lose(0, 0) mends it.
func (h *Host) Lose(from, to int) error {
	h.LoseFrom, h.LoseTo = from, to
	return errors.Join(run("nft %s", h.fleet.lose(h.link(), from)), h.inside("nft "+h.fleet.lose("eth0", to)))
}

// inside runs a command in the network namespace of the machine.
func (h *Host) inside(command string) error {
	return run("nsenter --net=/proc/%d/ns/net %s", h.server.Process.Pid, command)
}

const (
	groupRoot = "/sys/fs/cgroup"
	period    = 20 * time.Millisecond // of a limit on processor time: short, so that a machine never stops for long
	weight    = 100                   // CPU weight of all machines; a program of this machine has 1
)

func groupsV2() bool {
	_, err := os.Stat(filepath.Join(groupRoot, "cgroup.controllers"))
	return err == nil
}

// groupParent is the control group below which all others are created.
func groupParent() string {
	if groupsV2() {
		return groupRoot
	}
	return filepath.Join(groupRoot, "cpu")
}

// groupDir is the folder of all control groups of the fleet.
func (f *Fleet) groupDir() string { return filepath.Join(groupParent(), f.bridge()) }

// groups are the control groups of the machine.
func (h *Host) groups() []string {
	if h.Cores == 0 {
		return nil
	}
	return []string{filepath.Join(h.fleet.groupDir(), h.Name)}
}

// limitCores creates the control group that limits the machine's processor time.
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

// headName is the control group of the user's side.
const headName = "head"

// Head gives this process, and those that it starts from then on, the same priority over other
// programs of this machine as machines with a limit have. It is for measurements, so that the
// machines do not wait for other programs of this machine.
func (f *Fleet) Head() error {
	dir := filepath.Join(f.groupDir(), headName)
	return errors.Join(os.MkdirAll(dir, 0o755), put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid())))
}

// leaveHead moves this process, and the others of its group, back to the parent group.
func (f *Fleet) leaveHead() {
	pids, _ := os.ReadFile(filepath.Join(f.groupDir(), headName, "cgroup.procs"))
	for pid := range strings.FieldsSeq(string(pids)) {
		_ = put(filepath.Join(groupParent(), "cgroup.procs"), pid) // the process may have ended
	}
}

// removeGroups removes the control groups, whose processes have ended or are about to end.
func (f *Fleet) removeGroups() {
	f.leaveHead()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		dirs, _ := filepath.Glob(filepath.Join(f.groupDir(), "*"))
		for _, d := range dirs {
			_ = syscall.Rmdir(d) // its files are virtual
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
