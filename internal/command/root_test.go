package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestRootFor: a process that makes one command only has the same one as a process that makes all, with the words of other programs
// under it.
func TestRootFor(t *testing.T) {
	for _, o := range own(Extra{}.Policies) {
		whole, _, err := Root(Extra{}).Find([]string{o.name})
		if err != nil || whole.Name() != o.name || o.make().Name() != o.name {
			t.Fatalf("the command %s is listed as %s: %v", o.make().Name(), o.name, err)
		}
		paths := [][]string{{o.name}, {o.name, "--nosuch"}}
		for _, sub := range whole.Commands() {
			paths = append(paths, []string{o.name, sub.Name()})
		}
		for _, args := range paths {
			if o.name == "hadoop" || o.name == "hq" {
				continue // they read the command lines of other programs
			}
			if got, want := helpOf(rootFor(Extra{}, args), args), helpOf(Root(Extra{}), args); got != want {
				t.Errorf("%q alone has the help\n%s\nwant\n%s", args, got, want)
			}
		}
	}
}

// helpOf returns what a command says with --help, and its error.
func helpOf(root *cobra.Command, args []string) string {
	var out strings.Builder
	root.SetArgs(append(args, "--help"))
	root.SetOut(&out)
	err := root.Execute()
	return fmt.Sprint(out.String(), err)
}

// TestRootForOthers: a word that is no command of berth, and what shows or completes commands, get all; the version needs none.
func TestRootForOthers(t *testing.T) {
	for args, want := range map[string]int{"--help": 30, "stauts": 30, "srun": 30, "completion": 30, "__complete": 30, "mr": 30, "--json": 30, "docs": 30, "": 30, "status": 1, "--version": 0, "-v": 0} {
		got := len(rootFor(Extra{}, strings.Fields(args)).Commands())
		if got != want && (want < 30 || got < want) {
			t.Errorf("berth %s: %d commands, want %d", args, got, want)
		}
	}
}
