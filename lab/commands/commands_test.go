package commands

import (
	"io"
	"strings"
	"testing"

	"berth/internal/command"
)

// TestMisspelt: a value that a flag cannot have is named, with the command that explains it.
func TestMisspelt(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"table2", "--nodes", "many"}, `--nodes: "many" is not a whole number; see berth-lab table2 --help`},
		{[]string{"table2", "--seed=-1"}, `--seed: "-1" is not a whole number from 0; see berth-lab table2 --help`},
		{[]string{"fig4", "4"}, `fig4 takes no argument, but there is "4"`},
		{[]string{"swf"}, "swf wants a log; see berth-lab swf --help"},
		{[]string{"simulate", "swf"}, `there is no command "simulate swf"; use berth-lab swf`},
	} {
		root := command.Root(Extra())
		root.SetArgs(tt.args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.Execute(); err == nil || err.Error() != tt.want {
			t.Errorf("berth-lab %q: error %v, want %s", tt.args, err, tt.want)
		}
	}
}

// TestEveryCommandHasHelp: a line of what it does, and an example.
func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range Extra().Commands {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "berth-lab "+c.Name()) {
			t.Errorf("%s: short %q, example %q", c.Name(), c.Short, c.Example)
		}
	}
}
