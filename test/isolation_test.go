package test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/event"
)

// intruderEnv tells the test program to be the second user of TestIsolation.
const intruderEnv = "BERTH_TEST_INTRUDER"

// TestIsolation lets another user of the machine try to read a run, to talk to
// the coordinator and to fetch map output.
func TestIsolation(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can act as a second user")
	}
	w := newWorld(t)
	if err := os.Chmod(w.root, 0o755); err != nil { // it is berth that must keep others out, not the test's folder
		t.Fatal(err)
	}
	for _, d := range []string{"state", "tmp"} {
		if err := os.Chmod(filepath.Join(w.root, d), 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	w.write("in.txt", words(newRand(5), 2000))
	w.write("reduce.sh", fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.01; done; uniq -c\n", filepath.Join(w.dir, "go")))
	r := w.start("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "tr ' ' '\\n'", "-reducer", "reduce.sh")
	w.await("the reducer to run", func() bool { return len(w.jobs()) == 1 && strings.Contains(w.phases(), "reduce") })
	hello, err := w.client().Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := w.home().Dir
	run := w.home().Run(w.jobs()[0])
	got := intrude(t, w, []string{
		"read " + state, "read " + run.Dir, "read " + run.Journal(), "read " + filepath.Join(run.Dir, "job.json"),
		"read " + filepath.Join(state, "server", "keys"), "read " + largest(t, filepath.Join(w.root, "tmp"), "outputs"),
		"socket " + w.home().Socket(), "tls " + hello.Address, "fetch " + w.shuffleAddr(),
	})
	w.write("go", "")
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	for _, line := range got {
		if !strings.HasPrefix(line, "denied ") {
			t.Errorf("a second user could: %s", line)
		}
	}
	if len(got) != 9 {
		t.Errorf("the second user did not try everything: %q", got)
	}
}

// phases returns the phases that the last job's journal has seen, as one string.
func (w *world) phases() string {
	var b strings.Builder
	for _, e := range w.tryRecords(w.jobs()[len(w.jobs())-1]) {
		if p, ok := e.Record.(event.PhaseEntered); ok {
			b.WriteString(p.Phase.String() + " ")
		}
	}
	return b.String()
}

// shuffleAddr returns where a worker serves map output.
func (w *world) shuffleAddr() string {
	for _, e := range w.serverRecords() {
		if n, ok := e.Record.(event.NodeJoined); ok {
			return n.Addr
		}
	}
	w.t.Fatal("no worker has joined")
	return ""
}

// intrude runs attempts as the user nobody and returns a line for each.
func intrude(t *testing.T, w *world, attempts []string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(program), "intruder")
	if out, err := exec.Command("install", "-m", "755", self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(copied)
	cmd.Dir = "/"
	cmd.Env = []string{intruderEnv + "=" + strings.Join(attempts, "\n")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// intruder tries what the environment says and prints what came of it.
func intruder() {
	for _, a := range strings.Split(os.Getenv(intruderEnv), "\n") {
		how, what, _ := strings.Cut(a, " ")
		if err := try(how, what); err != nil {
			fmt.Println("denied", a, err)
		} else {
			fmt.Println("allowed", a)
		}
	}
}

func try(how, what string) error {
	switch how {
	case "read":
		f, err := os.Open(what)
		if err == nil {
			_ = f.Close()
		}
		return err
	case "socket":
		c, err := net.Dial("unix", what)
		if err == nil {
			_ = c.Close()
		}
		return err
	case "tls":
		c, err := tls.Dial("tcp", what, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = c.Read(make([]byte, 1)) // TLS 1.3 tells a refused client at its first read
		return err
	case "fetch":
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		resp, err := c.Get("https://" + what + "/")
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	return nil
}
