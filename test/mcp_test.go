package test

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a client of berth mcp.
type agent struct {
	w       *world
	session *mcp.ClientSession
}

func (w *world) agent(flags ...string) agent {
	w.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(w.t.Context(), &mcp.CommandTransport{Command: w.command(append([]string{"mcp"}, flags...)...)}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return agent{w, s}
}

// call calls a tool, and returns all that it says and whether it failed.
func (a agent) call(tool string, arguments map[string]any) (texts []string, failed bool) {
	a.w.t.Helper()
	r, err := a.session.CallTool(a.w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.w.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	for _, c := range r.Content {
		texts = append(texts, c.(*mcp.TextContent).Text)
	}
	return texts, r.IsError
}

// must calls a tool and fails the test unless the first thing that it says contains a text, and is what the command prints, if any is named.
func (a agent) must(tool string, arguments map[string]any, want string, command ...string) {
	a.w.t.Helper()
	texts, failed := a.call(tool, arguments)
	if failed || !strings.Contains(texts[0], want) {
		a.w.t.Errorf("%s %v: %t, %q; want %q", tool, arguments, failed, texts, want)
	}
	checkJSON(a.w.t, append(command, "--json"), strings.Repeat(texts[0], min(len(command), 1)))
}

func (a agent) refused(tool string, arguments map[string]any, want string) {
	a.w.t.Helper()
	if texts, failed := a.call(tool, arguments); !failed || !strings.Contains(strings.Join(texts, "\n"), want) {
		a.w.t.Errorf("%s %v: %t, %q; want an error with %q", tool, arguments, failed, texts, want)
	}
}

func (a agent) tools() (names []string) {
	a.w.t.Helper()
	for tool, err := range a.session.Tools(a.w.t.Context(), nil) {
		if err != nil {
			a.w.t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// leaves has a client send requests and get one answer. Then it stops reading, sends further ones and ends.
func (w *world) leaves(first, then string) {
	w.t.Helper()
	cmd := w.command("mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = io.WriteString(in, first)
	_, rerr := bufio.NewReader(out).ReadString('\n')
	cerr := out.Close()
	_, werr := io.WriteString(in, then)
	if err := errors.Join(err, rerr, cerr, werr, in.Close(), cmd.Wait()); err != nil {
		w.t.Error(err)
	}
}

// TestAgent plans jobs, submits them, reads what they print and cancels them by berth mcp.
func TestAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent()
	if got := a.tools(); !slices.Equal(got, strings.Fields("plan submit status report cat cancel")) {
		t.Errorf("the tools are %q", got)
	}
	job := map[string]any{"command": []string{"echo", "{}"}, "entries": []string{"--json", "b"}, "cpus-per-task": "1", "retries": "2"}
	a.refused("submit", map[string]any{"plan": 1}, "no such plan")
	a.must("plan", job, `"tasks":2`, "plan", "bag")
	a.must("submit", map[string]any{"plan": 1}, `{"id":"bag-1"}`, "bag")
	a.refused("submit", map[string]any{"plan": 1}, "submit was called for it")
	w.must("wait", "bag-1")
	a.must("cat", map[string]any{"job": "bag-1", "tasks": []int{1}}, "--json\n")
	a.must("status", map[string]any{"limit": 5}, `"id":"bag-1"`, "status")
	a.must("report", map[string]any{"job": "last", "tasks": true}, `"tasks_done":2`, "report")

	w.write("bag.toml", "kind = \"bag\"\n[bag]\ncommand = \"sleep 1000\"\narray = \"1-3\"\nthrottle = 1\n")
	a.must("plan", map[string]any{"file": "bag.toml", "nodes": "1"}, `"tasks":3`, "plan", "run")
	a.must("submit", map[string]any{"plan": 2}, `{"id":"bag-2"}`, "run")
	a.must("cancel", map[string]any{"job": "bag-2", "task": []string{"3"}}, `"states":["cancelled"]`, "cancel")
	a.must("cancel", map[string]any{"job": "bag-2"}, `"state":"cancelled"`, "cancel")

	a.refused("cancel", map[string]any{"job": "bag-2"}, `"class":"user"`)
	a.refused("report", map[string]any{"job": "--svg=x"}, "no job --svg=x")
	a.refused("plan", map[string]any{"command": []string{"true"}, "detach": true}, "no such argument")
	a.refused("plan", map[string]any{"file": "bag.toml", "array": "1-2"}, "there is no flag --array")
	a.refused("plan", map[string]any{"command": []string{"true"}, "each-line": "/dev/stdin"}, "there is no entry")
	a.refused("plan", map[string]any{"file": "bag.toml", "cluster-price": 1}, "add --front")
	a.refused("cat", map[string]any{"tasks": []int{4}}, "bag-2")

	w.leaves(`{"id":1,"method":"tools/call","params":{"name":"plan","arguments":{"command":"true","array":"1","front":false}}}`,
		`{"id":2,"method":"tools/call","params":{"name":"submit","arguments":{"plan":1.0}}}{"id":3,"method":"ping"}`)
	w.must("wait", "bag-3")

	reader := w.agent("--read-only")
	if got := reader.tools(); !slices.Equal(got, strings.Fields("plan status report cat")) {
		t.Errorf("the tools of --read-only are %q", got)
	}
	reader.must("plan", job, `"tasks":2`, "plan", "bag")
	for _, tool := range []string{"submit", "cancel"} {
		if _, err := reader.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"job": "bag-2", "plan": 1}}); err == nil {
			t.Errorf("--read-only has the tool %s", tool)
		}
	}
}
