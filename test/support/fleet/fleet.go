package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Options say what machines of a fleet are like.
type Options struct {
	Apart  bool     // each in namespaces of its own
	Server int64    // bytes/s, both ways together, that the user's machine exchanges with all machines that are apart; 0: no limit
	Hide   []string // folders of this machine that machines apart do not see, beside the home folder and /tmp
}

// Fleet is a set of machines. Its methods are for one goroutine at a time, but for those of different machines.
type Fleet struct {
	Command string // that reaches the machines: ssh with its configuration, as BERTH_SSH takes it

	opts  Options
	slot  int    // the fleet's number on this machine
	dir   string // all that it has
	lock  *os.File
	hosts []*Host
}

// Missing says why there can be no machines apart here; "" where there can.
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

// refused says what the kernel refuses of what machines apart are made of, as it does root in many containers; "" where it refuses nothing.
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

// find returns a program's whole name: ordinary users do not have daemons on PATH, and sshd wants to be called by it.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", program))
}

// base is the folder with all fleets of this user.
func base() string {
	if os.Geteuid() == 0 {
		return "/run/berth-fleet" // machines apart have another /tmp
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("berth-fleet-%d", os.Getuid()))
}

// slots bounds how many fleets there are at once: each has one number in the addresses of its machines.
const slots = 250

// keepName is the file in a fleet's folder that has it outlive the process that made it.
const keepName = "keep"

// New returns a fleet without any machine. Fleets that processes left which are no more are removed.
func New(o Options) (*Fleet, error) {
	if why := Missing(); o.Apart && why != "" {
		return nil, errors.New("no machines apart: " + why)
	}
	if err := sweep(false); err != nil {
		return nil, err
	}
	for slot := 1; slot <= slots; slot++ {
		f, err := open(slot)
		if errors.Is(err, unix.EWOULDBLOCK) {
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

// open takes a fleet's number, unless another process has it.
func open(slot int) (*Fleet, error) {
	if err := os.MkdirAll(base(), 0o755); err != nil {
		return nil, err
	}
	f := &Fleet{slot: slot, dir: filepath.Join(base(), strconv.Itoa(slot))}
	var err error
	if f.lock, err = os.OpenFile(f.dir+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.lock.Close())
	}
	f.Command = "ssh -F " + filepath.Join(f.dir, "config")
	return f, nil
}

func (f *Fleet) make() error {
	err := os.Mkdir(f.dir, 0o700)
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

// Keep has the machines outlive this process, until CloseKept.
func (f *Fleet) Keep() error {
	return errors.Join(os.WriteFile(filepath.Join(f.dir, keepName), nil, 0o600), f.lock.Close())
}

// CloseKept removes the fleets that Keep has kept.
func CloseKept() error { return sweep(true) }

// sweep removes the fleets of processes that are no more; those that were kept only if kept is true.
func sweep(kept bool) (err error) {
	dirs, _ := filepath.Glob(filepath.Join(base(), "*.lock"))
	for _, lock := range dirs {
		slot, _ := strconv.Atoi(filepath.Base(lock[:len(lock)-len(".lock")]))
		f, errOpen := open(slot)
		if errors.Is(errOpen, unix.EWOULDBLOCK) {
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

// Close ends all machines and removes what they had.
func (f *Fleet) Close() (err error) {
	for range 3 { // what is killed may just have started another
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
		_ = unix.Unmount(d, unix.MNT_DETACH) // it may be none
	}
	return errors.Join(os.RemoveAll(f.dir), f.lock.Close())
}
