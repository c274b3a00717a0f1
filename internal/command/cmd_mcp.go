package command

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth"
	"berth/internal/command/mcp"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/leader"
	"berth/internal/show/ui"
	"berth/internal/sys/procattr"
)

func newMCP(policies leader.Policies) *cobra.Command {
	var o struct {
		ReadOnly bool `flag:"read-only" usage:"offer no tool that changes anything: plan, status, report and cat only"`
	}
	c := command("mcp", NoArguments, func(cmd *cobra.Command, _ []string) error {
		a := agent{policies: policies, readOnly: o.ReadOnly}
		offer := mcp.Offer{Name: "berth", Version: berth.Version(), Instructions: cmd.Long}
		for _, t := range agentTools() {
			if t.hints.ReadOnly || !o.ReadOnly {
				offer.Tools = append(offer.Tools, a.tool(t))
			}
		}
		in, out, err := procattr.DetachStdio() // nothing but the protocol goes there
		if err != nil {
			return fmt.Errorf("detach standard input and output: %w", err)
		}
		return mcp.Serve(cmd.Context(), in, out, offer)
	})
	addFlags(c.Flags(), &o)
	return c
}

// agent is whoever calls the tools of one berth mcp. They run commands in this process, as a user would give them.
type agent struct {
	policies leader.Policies
	readOnly bool
	mu       sync.Mutex
	planned  [][]string // command lines that submit the jobs whose plans it was shown; nil: it was submitted
}

// agentTool is a tool: a command, with some of its flags and words behind them as arguments.
type agentTool struct {
	name, says string
	command    string // whose flags it has; empty: none
	flags      string // those that it offers; empty: all but notForAgents
	words      string // of agentWords
	hints      mcp.Hints
}

func agentTools() []agentTool {
	reads := mcp.Hints{ReadOnly: true}
	return []agentTool{
		{"plan", "What would be requested for a job, when it would start and end, and what it would cost. Nothing is submitted.", "plan bag", "", "file command entries", reads},
		{"submit", "Submits a job that was planned, and returns its id at once.", "", "", "plan", mcp.Hints{}},
		{"status", "Lists jobs; of one job also its tasks; of tasks of a job only those.", "status", "all limit since state", "job tasks", reads},
		{"report", "All that is known of a job: progress, failures with what they wrote to standard error, resources, predictions.", "report", "tasks nodes accuracy slow-nodes since by", "job", reads},
		{"cat", "What tasks have printed.", "cat", "stderr tag", "job tasks", reads},
		{"cancel", "Stops a job, or some of its tasks, and waits until they have ended.", "cancel", "task", "job", mcp.Hints{Destructive: true}},
	}
}

// notForAgents are flags of jobs that are about what the command prints, or with which berth plan would do more than plan.
const notForAgents = "detach dry-run group keep-order open run svg tag ungroup"

// agentWord is an argument that is no flag.
type agentWord struct{ name, kind, says string }

// agentWords are in the order in which they stand on a command line.
func agentWords() []agentWord {
	return []agentWord{
		{"plan", "integer", "the number that plan gave it"},
		{"file", "string", "job file (TOML) in the place of a command; MapReduce jobs and jobs in stages have one"},
		{"command", "array", "the program that each task runs, and its arguments; {} stands for the entry"},
		{"entries", "array", "one task is run for each; flags name other sources of entries"},
		{"job", "string", "id or number of a job, or last"},
		{"tasks", "array", "tasks by their numbers, from 1, or names"},
	}
}

func oneOf(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// root returns the command line for a command.
func (a *agent) root(args ...string) *cobra.Command {
	return rootFor(Extra{Policies: a.policies}, args)
}

// visit calls do for the flags of a tool.
func (a *agent) visit(t agentTool, do func(*pflag.Flag)) {
	path := strings.Fields(t.command)
	if len(path) == 0 {
		return
	}
	c, _, err := a.root(path...).Find(path)
	if err != nil {
		return
	}
	shownFlags(c, func(f *pflag.Flag) {
		if oneOf(t.flags, f.Name) || t.flags == "" && !oneOf(notForAgents, f.Name) {
			do(f)
		}
	})
}

func (a *agent) tool(t agentTool) mcp.Tool {
	properties := map[string]any{}
	add := func(name, kind, says string) {
		p := map[string]any{"type": kind, "description": says}
		if kind == "array" {
			p["items"] = map[string]any{"type": "string"}
		}
		properties[name] = p
	}
	a.visit(t, func(f *pflag.Flag) {
		word, says := pflag.UnquoteUsage(f)
		switch f.Value.Type() {
		case "bool":
			add(f.Name, "boolean", says)
		case "int":
			add(f.Name, "integer", says)
		case "float64":
			add(f.Name, "number", says)
		case "stringArray":
			add(f.Name, "array", says)
		default:
			kind := "string"
			if v, is := f.Value.(interface{ Many() bool }); is && v.Many() {
				kind = "array"
			}
			add(f.Name, kind, word+": "+says)
		}
	})
	for _, w := range agentWords() {
		if oneOf(t.words, w.name) {
			add(w.name, w.kind, w.says)
		}
	}
	return mcp.Tool{
		Name: t.name, Description: t.says, Hints: t.hints,
		Input: map[string]any{"type": "object", "properties": properties, "additionalProperties": false},
		Call: func(ctx context.Context, in map[string]json.RawMessage) mcp.Result {
			for name := range in {
				if properties[name] == nil {
					return refused(job.ArgumentError(name, "the tool "+t.name+" has no such argument", ""))
				}
			}
			return a.call(ctx, t, in)
		},
	}
}

// call runs a tool. A job is submitted by the number of a plan, so that its plan has been shown, and once.
func (a *agent) call(ctx context.Context, t agentTool, in map[string]json.RawMessage) mcp.Result {
	switch t.name {
	case "plan":
		kind := "bag"
		if in["file"] != nil {
			kind = "run"
		}
		r := a.run(ctx, a.line(t, in, "plan "+kind, "--json"))
		if !r.Failed && !a.readOnly && !given(in["front"]) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.planned = append(a.planned, a.line(t, in, kind, "--json", "--detach"))
			r.Add(fmt.Sprintf("submit would submit it as plan %d", len(a.planned)))
		}
		return r
	case "submit":
		line := a.take(in)
		if line == nil {
			return refused(job.ArgumentError("plan", "there is no such plan, or submit was called for it", "call plan, and look at what it requests and costs"))
		}
		r := a.run(ctx, line)
		if r.Failed { // a coordinator that has not answered may have it
			r.Add("this plan is submitted no more: look at status whether it was, else call plan again")
		}
		return r
	case "cat":
		return a.run(ctx, a.line(t, in, t.command))
	default:
		return a.run(ctx, a.line(t, in, t.command, "--json"))
	}
}

// take returns the command line that submits the job of a plan, once.
func (a *agent) take(in map[string]json.RawMessage) (line []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	said := strings.Join(valuesOf(in["plan"]), " ")
	n, err := strconv.Atoi(strings.TrimSuffix(said, ".0")) // some clients write all numbers so
	if err == nil && n > 0 && n <= len(a.planned) {
		line, a.planned[n-1] = a.planned[n-1], nil
	}
	return line
}

// given reports whether a flag is given that is true or false.
func given(raw json.RawMessage) bool {
	is, err := strconv.ParseBool(strings.Join(valuesOf(raw), " "))
	return is && err == nil
}

// line returns the command line of a call. What is no flag stands behind --, so that it is not taken for one.
func (a *agent) line(t agentTool, in map[string]json.RawMessage, command string, more ...string) []string {
	line := append(strings.Fields(command), more...)
	a.visit(t, func(f *pflag.Flag) {
		for _, v := range valuesOf(in[f.Name]) {
			if v != "false" || f.Value.Type() != "bool" || f.DefValue == "true" {
				line = append(line, "--"+f.Name+"="+v)
			}
		}
	})
	line = append(line, "--")
	for _, w := range agentWords() {
		values := valuesOf(in[w.name])
		if w.name == "job" && len(values) == 0 && oneOf(t.words, "tasks") && len(valuesOf(in["tasks"])) > 0 {
			values = []string{"last"} // as for the command without tasks; else the first of them would stand for a job
		}
		if oneOf(t.words, w.name) && len(values) > 0 {
			if w.name == "entries" {
				line = append(line, ":::")
			}
			line = append(line, values...)
		}
	}
	return line
}

// valuesOf returns an argument's values as a command line has them.
func valuesOf(raw json.RawMessage) (values []string) {
	var list []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		var text string
		if json.Unmarshal(one, &text) != nil {
			text = string(one)
		}
		values = append(values, text)
	}
	return values
}

// run runs a command, and returns what it prints, what it notes and its error.
func (a *agent) run(ctx context.Context, line []string) mcp.Result {
	out, notes := short{stopped: ctx.Err}, short{stopped: ctx.Err}
	root := a.root(line...)
	root.SetArgs(line)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&notes)
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // which some commands set
	err := root.ExecuteContext(control.WithNotice(ctx, func(text string) { _ = ui.Say(&notes, "%s", text) }))
	var r mcp.Result
	if err != nil {
		r = refused(err)
	}
	for _, s := range []*short{&out, &notes} {
		if len(s.text) > 0 {
			r.Add(string(s.text))
		}
		if s.more > 0 {
			r.Add(fmt.Sprintf("%d further bytes are left out; ask for less, or have the user run berth %s", s.more, line[0]))
		}
	}
	if len(r.Content) == 0 {
		r.Add("nothing was printed")
	}
	return r
}

// refused is the result of a call with an error.
func refused(err error) (r mcp.Result) {
	said := err.Error()
	text, _ := json.Marshal(map[string]any{ // texts and a number can be written
		"class": job.ClassOf(err).String(), "error": said[:min(len(said), mostText)], "exit": ExitCode(err),
	})
	r.Add(string(text))
	r.Failed = true
	return r
}

// mostText is how many bytes of what a command prints an agent gets.
const mostText = 100_000

// short keeps the beginning of what is written, and counts the rest, until the call is stopped.
type short struct {
	stopped func() error
	mu      sync.Mutex
	text    []byte
	more    int
}

func (s *short) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := min(len(p), mostText-len(s.text))
	s.text = append(s.text, p[:kept]...)
	s.more += len(p) - kept
	return len(p), s.stopped()
}
