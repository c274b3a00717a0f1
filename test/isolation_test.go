package test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
)

// intruderEnv is the variable that makes the test program the second user of TestIsolation.
const intruderEnv = "BERTH_TEST_INTRUDER"

// TestIsolation lets another user of the machine try to read a job's files, to connect to
// the coordinator and to fetch map output.
func TestIsolation(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can act as a second user")
	}
	w := newWorld(t)
	w.listen()
	if err := os.Chmod(w.root, 0o755); err != nil { // it is berth that must keep others out, not the test's folder
		t.Fatal(err)
	}
	for _, d := range []string{"state", "tmp"} {
		if err := os.Chmod(filepath.Join(w.root, d), 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	w.write("in.txt", words(newRand(5), 2000))
	w.write("reduce.sh", fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.2; done; uniq -c\n", filepath.Join(w.dir, "go")))
	r := w.start("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "tr ' ' '\\n'", "-reducer", "reduce.sh")
	w.await("the reducer to run", func() bool { return len(w.jobs()) == 1 && strings.Contains(w.phases(), "reduce") })
	hello, err := w.client().Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := w.home().Dir
	run := w.home().Run(w.jobs()[0])
	got := intrude(t, 65534, []string{
		"read " + state, "read " + run.Dir, "read " + run.Journal(), "read " + filepath.Join(run.Dir, "job.json"),
		"read " + filepath.Join(state, "server", "keys"), "read " + largest(t, filepath.Join(state, "scratch"), "outputs"),
		"socket " + w.home().Socket(), "tls " + hello.Address, "fetch " + hello.Address, "socket " + w.shuffleSocket(),
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
	if len(got) != 10 {
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

// shuffleSocket returns the socket at which the first worker serves map output.
func (w *world) shuffleSocket() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.home().Server(), "allocs", "*", "0.sock"))
	if err != nil || len(found) == 0 {
		w.t.Fatalf("no worker listens: %v, %v", found, err)
	}
	return found[0]
}

// intrude makes attempts as the other user and returns one line for each.
func intrude(t *testing.T, user int, attempts []string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(program), "intruder-"+t.Name())
	if out, err := exec.Command("install", "-m", "755", self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(copied)
	cmd.Dir = "/"
	cmd.Env, cmd.Stdin = []string{intruderEnv + "=stdin"}, strings.NewReader(strings.Join(attempts, "\n"))
	cmd.SysProcAttr = credential(user)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// intruder makes the attempts on its standard input and prints the results.
func intruder() {
	all, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Println("allowed nothing:", err)
	}
	for _, a := range strings.Split(string(all), "\n") {
		how, what, _ := strings.Cut(a, " ")
		if err := try(how, what); err != nil {
			fmt.Println("denied", a, err)
		} else {
			fmt.Println("allowed", a)
		}
	}
}

// answered returns nil if the other end of a connection sends anything but its end or
// a TLS alert.
func answered(c net.Conn) error {
	_ = c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 1)
	_, err := c.Read(b) // TLS 1.3 tells a refused client at its first read
	if err == nil && b[0] == alertRecord {
		err = errors.New("TLS alert")
	}
	return err
}

// alertRecord is the type of a TLS record that is an alert (RFC 8446, 5.1).
const alertRecord = 21

// ownKeys makes a certificate that names a worker, signed by nobody that the victim knows.
func ownKeys() (cert, key []byte) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"worker.berth.internal"},
		URIs: []*url.URL{{Scheme: "berth", Host: "worker", Path: "/a1/0"}}}
	der, err1 := x509.CreateCertificate(rand.Reader, t, t, public, private)
	pkcs, err2 := x509.MarshalPKCS8PrivateKey(private)
	if errors.Join(err1, err2) != nil {
		return nil, nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})
}

func try(how, what string) error {
	switch how {
	case "flood":
		return flood(what)
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
		return answered(c)
	case "keys": // of one's own authority
		cert, err := tls.X509KeyPair(ownKeys())
		if err != nil {
			return nil
		}
		c, err := tls.Dial("tcp", what, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{cert}, NextProtos: []string{"berth/1", "http/1.1"}})
		if err != nil {
			return err
		}
		return answered(c)
	case "plain":
		c, err := net.Dial("tcp", what)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"+strings.Repeat("garbage\x00\xff", 1000))
		return answered(c)
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
