package test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The users of these tests. They need no accounts.
const (
	victimID   = 61001
	attackerID = 61002
)

// newVictim makes a world whose user is neither root nor the attacker. Its scratch folder and
// the folder "shared" are open to all, with the sticky bit, as /tmp is.
func newVictim(t *testing.T) *world {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can act as two other users")
	}
	w := newWorld(t)
	w.user = victimID
	err := errors.Join(os.Chmod(w.root, 0o755), os.Mkdir(filepath.Join(w.root, "shared"), 0o700))
	for _, d := range []string{"shared", "tmp"} {
		err = errors.Join(err, os.Chmod(filepath.Join(w.root, d), 0o777|os.ModeSticky))
	}
	for _, d := range []string{"state", "work"} {
		err = errors.Join(err, os.Chown(filepath.Join(w.root, d), victimID, victimID))
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// attacker runs a command as the attacker.
func attacker(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.SysProcAttr = "/", credential(attackerID)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the attacker's %v: %v: %s", args, err, out)
	}
}

func credential(id int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
}

// taken are the ways in which an attacker occupies a name. Links lead to a file of the
// victim, beside its state folder.
var taken = map[string]func(t *testing.T, w *world, path string){
	"a FIFO":             func(t *testing.T, _ *world, path string) { attacker(t, "mkfifo", "-m", "666", path) },
	"a dangling symlink": func(t *testing.T, w *world, path string) { attacker(t, "ln", "-s", filepath.Join(w.dir, "made"), path) },
	"a symlink to a file": func(t *testing.T, w *world, path string) {
		attacker(t, "ln", "-s", filepath.Join(w.dir, "precious"), path)
	},
	"a symlink to a folder": func(t *testing.T, w *world, path string) { attacker(t, "ln", "-s", w.dir, path) },
	"a folder":              func(t *testing.T, _ *world, path string) { attacker(t, "mkdir", "-m", "777", path) },
	"a file": func(t *testing.T, _ *world, path string) {
		attacker(t, "sh", "-c", `echo theirs >"$1" && chmod 666 "$1"`, "sh", path)
	},
}

// untouched fails the test if berth has followed a link of the attacker or written to one of its files.
func (w *world) untouched(how, path string) {
	w.t.Helper()
	if got := w.read("precious"); got != "mine\n" {
		w.t.Errorf("%s: the victim's file holds %q", how, got)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "made")); err == nil {
		w.t.Errorf("%s: the file that a link led to was made", how)
	}
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 && path != "" {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			w.t.Errorf("%s: the attacker's folder holds %v", how, entries)
		}
	}
}

// Whatever an attacker puts under the names that berth will use in folders that all may write
// to, the victim's command is done, or ends at once with what is wrong, and nothing is followed.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := newVictim(t)
	shared := filepath.Join(w.root, "shared")
	w.write("precious", "mine\n")
	mine := fmt.Sprintf("berth-%d", victimID)
	try := func(how, path string, args ...string) {
		t.Helper()
		taken[how](t, w, path)
		r := w.berth(args...)
		if r.code == 0 || !strings.Contains(r.stderr, path) {
			t.Errorf("%s at %s: %v", how, path, r)
		}
		w.untouched(how, path)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for how := range taken {
		try(how, filepath.Join(shared, mine), "bag", "--scratch", shared, "--", "echo", ":::", "1")
		out := filepath.Join(shared, "{task}.txt")
		try(how, filepath.Join(shared, "1.txt"), "bag", "--scratch", w.dir, "--retries", "0", "--stdout", out, "--", "echo", ":::", "1")
		id := fmt.Sprintf("bag-%d", len(w.jobs())+1)
		part := filepath.Join(shared, fmt.Sprintf(".1.txt.%s.0.1.part", id))
		taken[how](t, w, part)
		r := w.berth("bag", "--scratch", w.dir, "--retries", "0", "--stdout", out, "--", "echo", ":::", "1")
		if r.code == 0 || !strings.Contains(r.stderr, filepath.Join(shared, "1.txt")+" cannot be written") {
			t.Errorf("%s as the part of %s: %v", how, id, r)
		}
		w.untouched(how, part)
		if err := os.RemoveAll(part); err != nil {
			t.Fatal(err)
		}
	}
	w.must("bag", "--scratch", shared, "--stdout", filepath.Join(shared, "{task}.txt"), "--", "echo", ":::", "1")
	if b, err := os.ReadFile(filepath.Join(shared, "1.txt")); string(b) != "1\n" || err != nil {
		t.Errorf("with nobody in the way the output is %q, %v", b, err)
	}
}

// An attacker who was first in the folder that is to hold the state folder gets an error, and nothing else.
func TestHostileStateFolder(t *testing.T) {
	t.Parallel()
	w := newVictim(t)
	w.write("precious", "mine\n")
	state := filepath.Join(w.root, "state")
	if err := errors.Join(os.Chown(state, 0, 0), os.Chmod(state, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "berth")
	for how, take := range taken {
		take(t, w, path)
		for _, args := range [][]string{{"bag", "--", "echo", ":::", "1"}, {"status"}, {"server", "status"}, {"server", "stop", "--force"}} {
			if r := w.berth(args...); r.code == 0 || !strings.Contains(r.stderr, path) {
				t.Errorf("%s: berth %s: %v", how, args[0], r)
			}
		}
		w.untouched(how, path)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	w.must("bag", "--", "echo", ":::", "1")
}

// While a job runs an attacker reads what there is to read and floods every port with silence
// and garbage. Nothing is told, and the job is done.
func TestHostileConnections(t *testing.T) {
	t.Parallel()
	w := newVictim(t)
	w.listen()
	w.write("in.txt", words(newRand(5), 2000))
	w.write("reduce.sh", fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.2; done; uniq -c\n", filepath.Join(w.dir, "go")))
	r := w.start("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "tr ' ' '\\n'", "-reducer", "reduce.sh")
	w.await("the reducer to run", func() bool { return len(w.jobs()) == 1 && strings.Contains(w.phases(), "reduce") })
	ports := w.ports()
	if len(ports) != 1 {
		t.Fatalf("%v listen, want the coordinator's port alone", ports)
	}
	attempts := w.readable()
	for _, addr := range ports {
		attempts = append(attempts, "tls "+addr, "keys "+addr, "fetch "+addr, "plain "+addr)
		for range 600 {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // a stranger's
		}
	}
	for _, line := range intrude(t, attackerID, attempts) {
		if !strings.HasPrefix(line, "denied ") {
			t.Errorf("another user could: %s", line)
		}
	}
	w.noSecretTold()
	if err := os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o644); err != nil { //nolint:gosec // for the victim
		t.Fatal(err)
	}
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	if w.output("out") == "" {
		t.Error("the job has no output")
	}
	w.must("bag", "--", "echo", ":::", "1") // while the silent connections last
}

// ports returns where the world's processes listen.
func (w *world) ports() []string {
	w.t.Helper()
	own := make(map[string]bool)
	for _, pid := range w.processes() {
		for _, inode := range sockets(pid) {
			own[inode] = true
		}
	}
	var found []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil {
			continue // a machine without IPv6
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line) // sl local remote state tx:rx tr:when retransmits uid timeout inode …
			if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
				continue
			}
			var port int
			if _, err := fmt.Sscanf(f[1][strings.LastIndexByte(f[1], ':')+1:], "%x", &port); err != nil {
				w.t.Fatal(err)
			}
			found = append(found, fmt.Sprintf("127.0.0.1:%d", port))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// sockets returns the inodes of the sockets that a process has open.
func sockets(pid int) (inodes []string) {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd) // it may be closed by now
		if inode, is := strings.CutPrefix(to, "socket:["); is {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// readable returns an attempt to read each file of the world's state folder, each
// socket that its processes have, and what the kernel tells of its processes.
func (w *world) readable() []string {
	w.t.Helper()
	var attempts []string
	err := filepath.WalkDir(w.home().Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // the job goes on
		case err != nil:
			return err
		case d.Type()&fs.ModeSocket != 0:
			attempts = append(attempts, "socket "+path)
		default:
			attempts = append(attempts, "read "+path)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	abstract, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, pid := range slices.Concat(w.berths(coordinatorRole), w.workers()) {
		for _, file := range []string{"environ", "mem", "maps", "fd/0", "cwd"} {
			attempts = append(attempts, fmt.Sprintf("read /proc/%d/%s", pid, file))
		}
		for _, inode := range sockets(pid) {
			if m := regexp.MustCompile(`(?m) ` + inode + ` @(.*)$`).FindSubmatch(abstract); m != nil {
				w.t.Errorf("process %d listens where file rights do not count: @%s", pid, m[1])
			}
		}
	}
	if len(attempts) < 20 {
		w.t.Errorf("only %v to try", attempts)
	}
	return attempts
}

// noSecretTold fails the test if a command line, which all users can read, holds a line of a key.
func (w *world) noSecretTold() {
	w.t.Helper()
	var lines [][]byte
	err := filepath.WalkDir(w.home().Server(), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".pem" {
			b, rerr := os.ReadFile(path)
			lines, err = append(lines, bytes.Fields(b)...), rerr
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, pid := range w.processes() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		for _, line := range lines {
			if len(line) > 20 && bytes.Contains(b, line) {
				w.t.Errorf("the command line of process %d holds a part of a key: %q", pid, b)
			}
		}
	}
}
