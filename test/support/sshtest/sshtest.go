// Package sshtest gives tests hosts that ssh reaches: real servers on loopback ports of this machine, each with keys, a cache folder and processes of
// its own, and a configuration of ssh that names them h1, h2, and so on.
package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a server may take to answer.
const patience = time.Minute

// Hosts are servers on this machine.
type Hosts struct {
	Command string // that reaches them: ssh with its configuration, as BERTH_SSH takes it
	dir     string
	tb      testing.TB
	hosts   []*host
}

type host struct {
	name, dir string
	port      int
	server    *exec.Cmd // nil: it is down
}

// Start starts n hosts, h1 to hn, which end with the test. Debian's openssh-server has to be there (scripts/deps.sh).
func Start(tb testing.TB, n int) *Hosts {
	tb.Helper()
	dir, err := os.MkdirTemp("", "berth-ssh-")
	check(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &Hosts{Command: "ssh -F " + filepath.Join(dir, "config"), dir: dir, tb: tb}
	h.key("client")
	var config, known strings.Builder
	for i := range n {
		one := &host{name: fmt.Sprintf("h%d", i+1), port: freePort(tb)}
		one.dir = filepath.Join(dir, one.name)
		check(tb, os.Mkdir(one.dir, 0o700))
		h.hosts = append(h.hosts, one)
		key := h.key(filepath.Join(one.name, "host"))
		fmt.Fprintf(&known, "[127.0.0.1]:%d %s", one.port, key)
		fmt.Fprintf(&config, "Host %s\n\tHostName 127.0.0.1\n\tPort %d\n", one.name, one.port)
	}
	fmt.Fprintf(&config, "Host *\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile /dev/null\n\tStrictHostKeyChecking yes\n\tLogLevel ERROR\n",
		filepath.Join(dir, "client"), filepath.Join(dir, "known"))
	h.write("config", config.String())
	h.write("known", known.String())
	tb.Cleanup(h.end)
	for i := range n {
		h.Up(i + 1)
	}
	return h
}

// key makes a pair of keys, and returns the public one.
func (h *Hosts) key(name string) string {
	h.tb.Helper()
	path := filepath.Join(h.dir, name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput(); err != nil {
		h.tb.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	check(h.tb, err)
	return string(public)
}

func (h *Hosts) write(name, text string) {
	h.tb.Helper()
	check(h.tb, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
}

// Up starts the server of host hN, with the folder for copies of programs that it had before, if any. Its users have a home folder of its
// own: the start-up files of this machine's shell may take long, and leave locks behind when they are killed.
func (h *Hosts) Up(n int) {
	h.tb.Helper()
	one := h.hosts[n-1]
	_ = os.Mkdir("/run/sshd", 0o755) // of Debian's package; only a server of root's needs it
	conf := filepath.Join(one.name, "sshd_config")
	h.write(conf, fmt.Sprintf("ListenAddress 127.0.0.1\nPort %d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"+
		"AllowTcpForwarding no\nAllowStreamLocalForwarding no\nPermitRootLogin yes\nMaxStartups 100\nSetEnv HOME=%s XDG_CACHE_HOME=%s\n",
		one.port, filepath.Join(one.dir, "host"), filepath.Join(h.dir, "client.pub"), one.dir, h.Cache(n)))
	path, err := exec.LookPath("sshd")
	if err != nil {
		path = "/usr/sbin/sshd" // ordinary users have it not on PATH; it wants to be called by its whole name
	}
	log, err := os.OpenFile(filepath.Join(one.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(h.tb, err)
	defer func() { _ = log.Close() }()
	one.server = exec.Command(path, "-D", "-e", "-f", filepath.Join(h.dir, conf))
	one.server.Stderr = log
	one.server.Env = append(os.Environ(), h.mark(n))
	check(h.tb, one.server.Start())
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(one.port)))
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(until) {
			text, _ := os.ReadFile(log.Name())
			h.tb.Fatalf("sshd of %s does not answer: %v\n%s", one.name, err, text)
		}
	}
}

// Cache is the folder in which host hN keeps copies of programs.
func (h *Hosts) Cache(n int) string { return filepath.Join(h.hosts[n-1].dir, "cache") }

// mark is a variable that all processes of host hN have.
func (h *Hosts) mark(n int) string { return "XDG_CACHE_HOME=" + h.Cache(n) }

// Processes returns the processes that were started on host hN by ssh and live, without those of the server.
func (h *Hosts) Processes(n int) []int {
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		program, _ := os.Readlink(filepath.Join(d, "exe"))
		pid, _ := strconv.Atoi(filepath.Base(d))
		if err == nil && pid != os.Getpid() && !strings.Contains(filepath.Base(program), "sshd") && hasVariable(env, h.mark(n)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasVariable(env []byte, variable string) bool {
	for _, v := range bytes.Split(env, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}

// Down kills host hN: the server, its connections, and all that runs there.
func (h *Hosts) Down(n int) {
	h.tb.Helper()
	one := h.hosts[n-1]
	if one.server == nil {
		return
	}
	for _, pid := range append(children(one.server.Process.Pid), one.server.Process.Pid) {
		_ = unix.Kill(pid, syscall.SIGKILL)
	}
	_ = one.server.Wait()
	one.server = nil
	for range 3 { // what is killed may just have started another
		for _, pid := range h.Processes(n) {
			_ = unix.Kill(pid, syscall.SIGKILL)
		}
	}
}

// children returns the processes that a process has started, and theirs.
func children(pid int) []int {
	var all []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(t)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, children(child)...), child)
			}
		}
	}
	return all
}

// ChangeKey gives host hN another key than the one that its users know.
func (h *Hosts) ChangeKey(n int) {
	h.tb.Helper()
	h.Down(n)
	for _, name := range []string{"host", "host.pub"} {
		check(h.tb, os.Remove(filepath.Join(h.hosts[n-1].dir, name)))
	}
	h.key(filepath.Join(h.hosts[n-1].name, "host"))
	h.Up(n)
}

func (h *Hosts) end() {
	for i := range h.hosts {
		h.Down(i + 1)
	}
}

func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(tb, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
