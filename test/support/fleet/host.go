package fleet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Machine describes a machine. All fields except the name are for machines with Apart, and may be
// omitted.
type Machine struct {
	Name           string
	Rate           int64   // bytes/s of its link in each direction; 0: no limit
	LoseFrom       int     // percentage of what it sends that its link loses at random; see Lose
	LoseTo         int     // the same of what is sent to it
	Cores          float64 // processor time in cores of this machine; 0: no limit
	Disk           int64   // bytes of its home folder and /tmp together, which are in memory; 0: 1 GiB
	HostKey        string  // its private key in the format of ssh-keygen; "": a new one
	AuthorizedKeys string  // who may log in, in the format of ssh's file of that name; "": owners of the fleet's key
}

// Host is a machine that is reached by ssh.
type Host struct {
	Machine
	Addr string // its address, of its own also without Apart
	Port int

	fleet  *Fleet
	number int
	dir    string    // the test bed's files of the machine
	server *exec.Cmd // nil: the machine is down
}

const (
	diskName = "disk"      // the folder below a machine's own with its home folder and /tmp
	patience = time.Minute // how long a server may take to answer

	// markVar is the environment variable by which processes of machines are known that are not apart. Its value is the machine's folder for copies of programs.
	markVar = "XDG_CACHE_HOME"
)

// Boot creates a machine and starts it. When it returns, the machine's ssh server answers.
func (f *Fleet) Boot(m Machine) (*Host, error) {
	h := &Host{Machine: m, fleet: f, number: f.freeNumber(), Port: 22, dir: filepath.Join(f.dir, m.Name)}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return nil, err
	}
	f.hosts = append(f.hosts, h)
	if err := errors.Join(h.equip(), h.install(), h.keys(), f.writeConfig()); err != nil {
		return nil, errors.Join(err, h.Remove())
	}
	if err := h.Up(); err != nil {
		return nil, errors.Join(err, h.Remove())
	}
	return h, nil
}

func (f *Fleet) freeNumber() int {
	number := 2
	for i := 0; i < len(f.hosts); i++ {
		if f.hosts[i].number == number {
			number, i = number+1, -1
		}
	}
	return number
}

// equip gives the machine its address, its disk and its limits.
func (h *Host) equip() (err error) {
	if !h.fleet.opts.Apart { // a port that the system gave could be given to others until the server listens, and while the machine is down
		h.Addr, h.Port = fmt.Sprintf("127.178.%d.%d", h.fleet.slot, h.number), 2022
		return os.Mkdir(h.Cache(), 0o700)
	}
	h.Addr = h.fleet.address(h.number)
	disk := filepath.Join(h.dir, diskName)
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("berth-fleet", disk, "tmpfs", 0, fmt.Sprintf("mode=755,size=%d", cmp.Or(h.Disk, 1<<30))); err != nil {
		return fmt.Errorf("mount the machine's disk: %w", err)
	}
	err = errors.Join(os.Mkdir(filepath.Join(disk, "home"), 0o700), os.Mkdir(filepath.Join(disk, "tmp"), 0o700), os.Chmod(filepath.Join(disk, "tmp"), 0o777|os.ModeSticky))
	if err == nil && h.Cores > 0 {
		err = h.limitCores()
	}
	return err
}

// Home returns the machine's home folder as a path on this machine.
func (h *Host) Home() string {
	if h.fleet.opts.Apart {
		return filepath.Join(h.dir, diskName, "home")
	}
	return h.dir
}

// Cache returns the machine's cache folder as a path on this machine.
func (h *Host) Cache() string { return filepath.Join(h.Home(), ".cache") }

// Up starts the machine with its previous files.
func (h *Host) Up() error {
	log, err := os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	path, err := find("sshd")
	if err != nil {
		return err
	}
	_ = os.Mkdir("/run/sshd", 0o755) // of Debian's package; only a server of root's needs it
	server := []string{path, "-D", "-e", "-f", filepath.Join(h.dir, "sshd_config")}
	if h.fleet.opts.Apart {
		err = h.startApart(server, log)
	} else {
		h.server = h.command(server, log)
		err = h.server.Start()
	}
	if err != nil {
		h.server = nil
		return fmt.Errorf("start %s: %w", h.Name, err)
	}
	return h.await()
}

// command is a process of the machine that this process starts. It has its own session, so that keys
// at the terminal do not end it.
func (h *Host) command(words []string, log *os.File) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = log
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func (h *Host) mark() string { return markVar + "=" + h.Cache() }

// await waits until the server answers.
func (h *Host) await() error {
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(h.Addr, strconv.Itoa(h.Port)), time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(until) || !alive(h.server.Process.Pid) {
			said, _ := os.ReadFile(filepath.Join(h.dir, "log"))
			return fmt.Errorf("ssh's server of %s does not answer: %w\n%s", h.Name, err, said)
		}
	}
}

// alive reports whether a child of this process runs.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(text, []byte(") Z "))
}

// Down kills the machine: the server, its connections, and all its processes. Its files stay.
func (h *Host) Down() {
	if h.server == nil {
		return
	}
	for range 3 { // a killed process may just have started another
		for _, pid := range of(h.dir + "/") {
			_ = unix.Kill(pid, syscall.SIGKILL)
		}
	}
	h.reap()
}

func (h *Host) reap() {
	if h.server != nil {
		_ = h.server.Process.Kill()
		_ = h.server.Wait()
	}
	h.server = nil
}

// Remove removes the machine with all its files.
func (h *Host) Remove() error {
	h.Down()
	if h.fleet.opts.Apart {
		h.unlink()
		_ = unix.Unmount(filepath.Join(h.dir, diskName), unix.MNT_DETACH) // it may not have been mounted
	}
	var left []*Host
	for _, other := range h.fleet.hosts {
		if other != h {
			left = append(left, other)
		}
	}
	h.fleet.hosts = left
	return errors.Join(os.RemoveAll(h.dir), h.fleet.writeConfig())
}

// Processes returns the live processes that were started on the machine by ssh, without those of the
// server.
func (h *Host) Processes() (pids []int) {
	if h.server == nil {
		return nil
	}
	all := of(h.dir + "/")
	if h.fleet.opts.Apart {
		all = inNamespace(h.server.Process.Pid)
	}
	for _, pid := range all {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if program != "" && !strings.Contains(filepath.Base(program), "sshd") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// inNamespace returns the processes in the PID namespace of a process.
func inNamespace(pid int) (pids []int) {
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	for _, other := range processes() {
		if its, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", other)); err == nil && its == own {
			pids = append(pids, other)
		}
	}
	return pids
}

// of returns the processes of machines whose folders begin with dir, except this one: those with the
// mark in their environment, ssh servers, which lose their environment but have the folder on their
// command line, and all descendants of these.
func of(dir string) (pids []int) {
	for _, pid := range processes() {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		server := bytes.Contains(words, []byte("sshd")) && bytes.Contains(bytes.ReplaceAll(words, []byte{0}, []byte(" ")), []byte(" -f "+dir))
		if pid != os.Getpid() && (server || bytes.Contains(append([]byte{0}, env...), []byte("\x00"+markVar+"="+dir))) {
			pids = append(append(pids, pid), children(pid)...)
		}
	}
	return pids
}

// children returns the descendants of a process.
func children(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(t)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), children(child)...)
			}
		}
	}
	return all
}

func processes() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
