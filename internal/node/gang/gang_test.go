package gang

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/node/process"
)

// TestParse: the agent is called as launchers call ssh.
func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"n2 hostname":                            "n2: hostname",
		"-x n2 orted -mca a b":                   "n2: orted -mca a b",
		"-x -o BatchMode=yes -oA=b -p 22 n2 a b": "n2: a b",
		"-qx -l me n2 -- a":                      "n2: a",
		"me@n2 a":                                "n2: a",
		"-n -- n2 a -x":                          "n2: a -x",
		"-- n2 -x":                               "n2: -x",
		"n2 -l me -oA=b -x /bin/bash -f":         "n2: /bin/bash -f",
		"n2 -x":                                  "",
		"n2":                                     "",
		"-x":                                     "",
		"":                                       "",
	} {
		host, command, err := parse(strings.Fields(line))
		got := host + ": " + command
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q is %q (%v), want %q", line, got, err, want)
		}
	}
}

// TestNames: nodes have names of their own, by which they are found, also without their domain.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ hosts, names string }{
		{"a b", "a b"}, {"a a a", "a a-2 a-3"}, {"a.x a.x b.x", "a.x a-2.x b.x"}, {"a a-2 a", "a a-2 a-3"}, {"a a a-2", "a a-3 a-2"},
	} {
		names := Name(strings.Fields(tt.hosts))
		if got := strings.Join(names, " "); got != tt.names {
			t.Errorf("%s are named %s, want %s", tt.hosts, got, tt.names)
		}
		for i, name := range names {
			if Find(names, name) != i {
				t.Errorf("%s is not found among %v", name, names)
			}
		}
	}
	for host, want := range map[string]int{"b": 1, "a": -1, "c": -1, "": -1} { // two have the short name a
		if got := Find([]string{"a.x", "b.x", "a.y"}, host); got != want {
			t.Errorf("%q is node %d, want %d", host, got, want)
		}
	}
}

// TestFolder: launchers find the nodes and the agent, and what the user has set stays.
func TestFolder(t *testing.T) {
	f := Folder{t.TempDir()}
	nodes := []Node{{"a", 2}, {"b", 1}}
	if err := f.Fill(nodes); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{f.Hosts(): "a\na\nb\n", f.slots(): "a slots=2\nb slots=1\n"} {
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s has %q (%v), want %q", path, got, err, want)
		}
	}
	if exe, err := os.Executable(); err != nil || !IsAgent(f.agent()) {
		t.Errorf("%s is no agent (%v)", f.agent(), err)
	} else if to, err := filepath.EvalSymlinks(f.agent()); err != nil || to != exe {
		t.Errorf("the agent is %s (%v), want %s", to, err, exe)
	}
	own := f.Launchers([]string{"HYDRA_LAUNCHER=mine"}, []string{"one", "two"})
	has := func(kv string) bool { return slices.Contains(own, kv) }
	if !has("OMPI_MCA_plm=^one,two") || !has("HYDRA_LAUNCHER_EXEC="+f.agent()) || has("HYDRA_LAUNCHER=ssh") {
		t.Errorf("launchers are told %q", own)
	}
}

// TestCall: the standard files and the end of a program reach the other end, also by way of a worker between both.
func TestCall(t *testing.T) {
	ours, agents := net.Pipe()
	between, far := net.Pipe()
	go func() {
		if c, err := Accept(agents); err == nil {
			c.Forward(between)
		}
	}()
	asked := make(chan Request, 1)
	go func() {
		c, err := Accept(far)
		if err != nil {
			return
		}
		asked <- c.Request
		c.Serve(func(_ context.Context, in io.Reader, out, errs io.Writer) Result {
			text, _ := io.ReadAll(in)
			_, _ = out.Write(bytes.ToUpper(text))
			_, _ = io.WriteString(errs, "said")
			f := process.Failed("exit status 3")
			f.Exit = 3
			return Result{Failure: f}
		})
	}()
	var out, errs bytes.Buffer
	result, err := Run(ours, Request{Secret: "s", Host: "n2", Shell: "cat"}, strings.NewReader("text"), &out, &errs)
	if err != nil || result.Failure == nil || result.Failure.Exit != 3 || out.String() != "TEXT" || errs.String() != "said" {
		t.Errorf("got %q and %q, %+v, %v", &out, &errs, result.Failure, err)
	}
	if r := <-asked; r.Secret != "" || r.Shell != "cat" {
		t.Errorf("the worker of the node was asked for %+v", r)
	}
	_ = ours.Close()
}

// TestLostCaller: a program is ended when the one who asked for it is gone.
func TestLostCaller(t *testing.T) {
	ours, theirs := net.Pipe()
	ended := make(chan struct{})
	go func() {
		if c, err := Accept(theirs); err == nil {
			c.Serve(func(ctx context.Context, _ io.Reader, _, _ io.Writer) Result {
				<-ctx.Done()
				close(ended)
				return Result{}
			})
		}
	}()
	if err := newStream(ours).sendJSON(frameRequest, Request{Shell: "sleep 1000"}); err != nil {
		t.Fatal(err)
	}
	_ = ours.Close()
	<-ended
}
