package fleet

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Options describe the machines of a fleet.
type Options struct {
	Apart  bool     // each machine in its own namespaces
	Server int64    // bytes/s, in both directions together, between the user's machine and all machines with Apart; 0: no limit
	Hide   []string // folders of this machine that machines with Apart do not see, in addition to the home folder and /tmp

	// Program is a berth of which machines have a copy from the start, as if they had run a job before; empty: they have none.
	// Machines with a limit of their disk have none either.
	Program string
}

// Fleet is a set of machines. Its methods are for one goroutine at a time, except for those of
// different machines.
type Fleet struct {
	Command string // the program that reaches the machines: ssh with its configuration, for BERTH_SSH

	opts  Options
	slot  int    // the fleet's number on this machine
	dir   string // the folder of all its files
	lock  io.Closer
	hosts []*Host
}

// Missing returns the reason why machines with Apart are impossible here, or "".
func Missing() string {
	if os.Geteuid() != 0 {
		return "network namespaces need root"
	}
	for _, program := range []string{"ip", "tc", "sshd"} {
		if _, err := find(program); err != nil {
			return err.Error() + " (Debian packages iproute2 and openssh-server)"
		}
	}
	return refused()
}

// refused returns what the kernel refuses of the parts of machines with Apart, which happens to root
// in many containers, or "".
var refused = sync.OnceValue(func() string {
	link := fmt.Sprintf("bp%d", os.Getpid())
	if err := run("ip link add %s type bridge", link); err != nil {
		return err.Error()
	}
	defer func() { _ = run("ip link del %s", link) }()
	alone := exec.Command("/bin/true")
	alone.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Unshareflags: syscall.CLONE_NEWNS}
	if err := alone.Run(); err != nil {
		return "namespaces: " + err.Error()
	}
	if err := unix.Access(groupParent(), unix.W_OK); err != nil {
		return "control groups: " + groupParent() + ": " + err.Error()
	}
	return ""
})

// refusedLoss returns the reason why links cannot lose packets here, or "".
var refusedLoss = sync.OnceValue(func() string {
	if _, err := find("nft"); err != nil {
		return err.Error() + " (Debian package nftables)"
	}
	if err := run("nft --check %s", (&Fleet{}).lose("lo", 5)); err != nil {
		return err.Error()
	}
	return ""
})

// find returns the full path of a program: ordinary users do not have daemons on PATH, and sshd
// requires its full path.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", program))
}

// base is the folder of all fleets of this user.
func base() string {
	if os.Geteuid() == 0 {
		return "/run/berth-fleet" // machines with Apart have another /tmp
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("berth-fleet-%d", os.Getuid()))
}

// slots limits the number of simultaneous fleets, because each has a number in the addresses of its
// machines.
const slots = 250

// keepName is the file in a fleet's folder that makes the fleet outlive its process.
const keepName = "keep"

// New returns a fleet without machines. It removes fleets whose processes have ended.
func New(o Options) (*Fleet, error) {
	if why := Missing(); o.Apart && why != "" {
		return nil, errors.New("no machines apart: " + why)
	}
	if err := sweep(false); err != nil {
		return nil, err
	}
	for slot := 1; slot <= slots; slot++ {
		f, err := open(slot)
		if errors.Is(err, unix.EADDRINUSE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.opts = o
		if _, err := os.Stat(f.dir); err == nil { // it is kept
			_ = f.lock.Close()
			continue
		}
		return f, f.make()
	}
	return nil, fmt.Errorf("there are %d fleets already", slots)
}

// open reserves a fleet's number, unless another process has it. The lock is the name of a socket without a file: it belongs to the network
// namespace as links do, also where processes have different folders /run, and it disappears with the process.
func open(slot int) (*Fleet, error) {
	f := &Fleet{slot: slot, dir: filepath.Join(base(), strconv.Itoa(slot))}
	var err error
	if f.lock, err = net.Listen("unix", "@"+f.dir); err != nil {
		return nil, err
	}
	f.Command = "ssh -F " + filepath.Join(f.dir, "config")
	return f, nil
}

func (f *Fleet) make() error {
	err := os.MkdirAll(base(), 0o755)
	if err == nil {
		err = os.Mkdir(f.dir, 0o700)
	}
	if err == nil {
		_, err = makeKey(filepath.Join(f.dir, "client"))
	}
	if err == nil && f.opts.Apart {
		err = f.makeNetwork()
	}
	if err == nil {
		err = f.writeConfig()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// Keep makes the machines outlive this process, until CloseKept.
func (f *Fleet) Keep() error {
	return errors.Join(os.WriteFile(filepath.Join(f.dir, keepName), nil, 0o600), f.lock.Close())
}

// CloseKept removes the kept fleets.
func CloseKept() error { return sweep(true) }

// sweep removes the fleets of processes that have ended; kept ones only if kept is true.
func sweep(kept bool) (err error) {
	dirs, _ := os.ReadDir(base()) // there may be none
	for _, d := range dirs {
		slot, errName := strconv.Atoi(d.Name())
		if errName != nil {
			continue
		}
		f, errOpen := open(slot)
		if errors.Is(errOpen, unix.EADDRINUSE) {
			continue
		}
		if errOpen != nil {
			return errors.Join(err, errOpen)
		}
		if _, errKeep := os.Stat(filepath.Join(f.dir, keepName)); errKeep == nil && !kept {
			_ = f.lock.Close()
			continue
		}
		err = errors.Join(err, f.Close())
	}
	return err
}

// Close ends all machines and removes their files.
func (f *Fleet) Close() (err error) {
	for range 3 { // a killed process may just have started another
		for _, pid := range of(f.dir + "/") {
			_ = unix.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, h := range f.hosts {
		h.reap()
	}
	f.hosts = nil
	f.removeNetwork()
	f.removeGroups()
	disks, _ := filepath.Glob(filepath.Join(f.dir, "*", diskName))
	for _, d := range disks {
		_ = unix.Unmount(d, unix.MNT_DETACH) // it may not be mounted
	}
	return errors.Join(os.RemoveAll(f.dir), f.lock.Close())
}
