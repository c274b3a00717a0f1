package test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// listen has the world's coordinator open a port from its start, as those do whose workers are on nodes. Its address is one of the loopback interface.
func (w *world) listen() { w.batch = []string{noBatch, wire.ListenVar + "=127.0.0.1"} }

// TestNoPort: what runs on this machine alone opens no port, with several workers and where a batch system can be reached, too.
func TestNoPort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.batch = []string{"SLURM_CONF=" + filepath.Join(w.root, "no-cluster"), "BERTH_ON=local"}
	w.write("in.txt", words(newRand(5), 2000))
	w.must("mapreduce", "--on", "local", "--workers", "2", "-input", "in.txt", "-output", "out", "-D", "mapreduce.input.fileinputformat.split.maxsize=4000",
		"-mapper", "tr ' ' '\\n'", "-reducer", "uniq -c")
	if n := strings.Count(w.output("out"), "\n"); n == 0 {
		t.Error("the job has no output")
	}
	if n := len(w.workers()); n != 2 {
		t.Errorf("%d workers, want 2", n)
	}
	if ports := w.ports(); len(ports) != 0 {
		t.Errorf("%v listen", ports)
	}
}

// floods are the ways in which strangers use their connections. Some say what is no handshake, or begin one and stop.
var floods = map[string]string{"silent": "", "stalled": "\x16\x03\x01\x05\x00\x01\x00\x00", "garbage": "GET / HTTP/1.1\r\n\r\n"}

// flooding is the longest time of a flood, and strangers how many connections it has at once.
const (
	flooding  = 30 * time.Second
	strangers = 20_000
)

// flood keeps as many connections to an address open as it may, and opens another one for each that is closed, for flooding at the longest.
func flood(what string) error {
	how, addr, _ := strings.Cut(what, " ")
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	fmt.Println("flooding")
	end := time.Now().Add(flooding)
	var all sync.WaitGroup
	for range min(strangers, int(files.Cur)-100) {
		all.Go(func() {
			for time.Now().Before(end) {
				c, err := net.DialTimeout("tcp", addr, time.Until(end))
				if err != nil {
					continue
				}
				_ = c.SetDeadline(end)
				_, _ = c.Write([]byte(floods[how]))
				_, _ = c.Read(make([]byte, 1))
				_ = c.Close()
			}
		})
	}
	all.Wait()
	return fmt.Errorf("%d connections", strangers)
}

// TestFlood: while another user, here or beyond another network, has 20,000 connections to a coordinator's port, workers with keys get in.
func TestFlood(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	for how := range floods {
		for _, from := range []string{"here", "another network"} {
			if how != "silent" && os.Getenv(roundsVar) == "" {
				continue
			}
			t.Run(how+" from "+from, func(t *testing.T) { floodAndEnter(t, how, from) })
		}
	}
}

func floodAndEnter(t *testing.T, how, from string) {
	w := newWorld(t)
	host, enter := "127.0.0.1", []string(nil)
	if from != "here" {
		host, enter = otherNetwork(t)
	}
	w.batch = []string{noBatch, wire.ListenVar + "=" + host}
	w.must("server", "start")
	s, _ := w.serverStatus()
	stop := w.flood(append(enter, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), how+" "+s.Address)
	defer stop()
	ca, err := wire.LoadCA(filepath.Join(w.home().Server(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		id, err := ca.IssueWorker(job.NodeID(fmt.Sprintf("a99/%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		c, err := wire.Dial(t.Context(), &wire.Bundle{Addrs: []string{s.Address}, Identity: id})
		if err != nil {
			t.Fatalf("a worker does not get in: %v", err)
		}
		if err := c.Send(&wire.Hello{Version: wire.Version, Node: id.Node}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Recv(); err != nil { // it is not wanted, as no allocation has it, and is told so
			t.Fatalf("a worker is not heard: %v", err)
		}
		_ = c.Close()
		t.Logf("%s from %s: worker %d is in after %v", how, from, i, time.Since(began).Round(time.Millisecond))
	}
}

// flood floods an address by a command that runs another one, once its connections fill the queue. stop ends it.
func (w *world) flood(by []string, what string) (stop func()) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(program), "flood-"+strings.ReplaceAll(w.t.Name(), "/", "-"))
	if out, err := exec.Command("install", "-m", "755", self, copied).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	args := append(by, "env", "-i", intruderEnv+"=stdin", copied)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "/", strings.NewReader("flood "+what), os.Stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(what[strings.IndexByte(what, ' ')+1:])
	w.await("strangers to crowd in", func() bool { return established(w.t, port) > 1000 })
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// established returns how many connections there are to a port of this machine.
func established(t testing.TB, port string) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) && f[3] == "01" {
			n++
		}
	}
	return n
}

// otherNetwork makes a network namespace. It returns this machine's address there, and a command that runs another one in it.
func otherNetwork(t *testing.T) (host string, enter []string) {
	t.Helper()
	name := fmt.Sprintf("bs%d", os.Getpid())
	subnet := fmt.Sprintf("10.%d.%d", 200+os.Getpid()/256%50, os.Getpid()%256)
	ip := func(line string, words ...any) error {
		out, err := exec.Command("ip", strings.Fields(fmt.Sprintf(line, words...))...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", fmt.Sprintf(line, words...), err, out)
		}
		return nil
	}
	if err := ip("netns add %s", name); err != nil {
		t.Skip("no network namespaces here: ", err)
	}
	t.Cleanup(func() {
		if err := ip("netns del %s", name); err != nil { // with it its link ends
			t.Error(err)
		}
	})
	for _, line := range []string{"link add %[1]s type veth peer name %[1]sx netns %[1]s", "addr add %[2]s.1/24 dev %[1]s", "link set %[1]s up",
		"-n %[1]s addr add %[2]s.2/24 dev %[1]sx", "-n %[1]s link set %[1]sx up"} {
		if err := ip(line, name, subnet); err != nil {
			t.Fatal(err)
		}
	}
	return subnet + ".1", []string{"ip", "netns", "exec", name}
}
