package test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// printedBy has a schema for the output of each command by its name, as docs/berth.schema.json has it but without room for keys that
// it does not name.
var printedBy = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	text, err := os.ReadFile("../docs/berth.schema.json")
	if err != nil {
		return nil, err
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	for _, d := range whole.Defs {
		if d.Properties != nil {
			d.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	all := map[string]*jsonschema.Resolved{}
	for name := range whole.Defs {
		if command, is := strings.CutPrefix(name, "berth "); is {
			one := jsonschema.Schema{Schema: whole.Schema, Defs: whole.Defs, Ref: "#/$defs/" + name}
			if all[command], err = one.CloneSchemas().Resolve(nil); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
})

// checkJSON holds what a command has printed with --json against the schema.
func checkJSON(t testing.TB, args []string, stdout string) {
	t.Helper()
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if stdout == "" || !slices.Contains(args, "--json") {
		return
	}
	schemas, err := printedBy()
	if err != nil {
		t.Errorf("docs/berth.schema.json: %v", err)
		return
	}
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	s := schemas[strings.Join(words[:min(len(words), 2)], " ")]
	if s == nil {
		s = schemas[words[0]]
	}
	if s == nil {
		t.Errorf("berth %q: its output is not in docs/berth.schema.json", args)
		return
	}
	for line := range strings.Lines(stdout) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("berth %q printed what is not JSON: %v: %.200s", args, err, line)
		} else if err := s.Validate(v); err != nil {
			t.Errorf("berth %q printed what is not in docs/berth.schema.json: %v: %.2000s", args, err, line)
		}
	}
}

// TestJSON has commands print as JSON what no other test asks for, and checkJSON holds it against the schema.
func TestJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("types.toml", "[[type]]\nname = \"m\"\nprice = 0.1\n")
	w.must("bag", "--json", "--", "echo", "{}", ":::", "a", "b")
	w.berth("bag", "--json", "--retries", "0", "--", "false", ":::", "a")
	w.must("bag", "--json", "--open", "--", "echo", "{}")
	for _, line := range []string{
		"bag --json --dry-run -- echo {} ::: a b", "plan bag --json -- echo {} ::: a b", "trace stats --json -- true",
		"explain 3 --json", "set 3 priority=2 --json", "add 3 --json ::: a", "close 3 --json", "wait 3 --json",
		"status --json", "status 1 --json", "progress 1 --json", "watch 1 --json", "limit x=2 --json", "limit --json",
		"report 2 --json", "report 1 --tasks --json", "report 1 --nodes --json", "report --accuracy --json", "report --slow-nodes --json",
		"report --since 1h --json", "forget 1 --json", "server status --json", "help --json", "help plan bag --json",
		"front --tasks 10 --task-time 5 --catalogue types.toml --json",
	} {
		w.must(strings.Fields(line)...)
	}
}
