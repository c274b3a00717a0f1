// Package completion tells what shells may offer behind the words of a command line: job ids, job files, and the words that a flag takes.
package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/driver/registry"
	"berth/internal/sys/statedir"
)

// values are what a shell offers behind flags that take one of a few words.
var values = map[string][]string{
	"on":         append([]string{"auto"}, strings.Split(registry.Names(), ", ")...),
	"stragglers": {"auto", "duplicate", "abort", "tell", "off"},
	"wall-time":  {"auto", "upper", "max"},
	"order":      {"auto", "fifo", "shortest"},
	"stand-in":   {"on", "nodes", "off"},
}

// Offer tells a command and those under it what shells may offer.
func Offer(c *cobra.Command) {
	for _, sub := range c.Commands() {
		Offer(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if words, known := values[f.Name]; known {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that has one
		}
	})
	use := strings.Fields(c.Use)
	switch {
	case c.ValidArgsFunction != nil || len(use) < 2:
	case strings.Contains(use[1], "FILE.toml") || strings.Contains(use[1], "SCENARIO.toml"):
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		}
	case strings.Contains(use[1], "JOB"):
		several := strings.Contains(use[1], "JOB...")
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !several {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return jobIDs(args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
	}
}

// jobIDs returns the jobs that there are, newest first, but for those that are named already.
func jobIDs(named []string) (ids []string) {
	h, err := statedir.Open()
	if err != nil {
		return nil
	}
	runs, err := h.List()
	if err != nil {
		return nil
	}
	for _, r := range slices.Backward(runs) {
		if id := string(r.ID); !slices.Contains(named, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// AddCommand adds cobra's command that writes completions for shells, with an example for each shell that there is on Linux.
func AddCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Example = "  source <(berth completion bash)"
		for _, shell := range c.Commands() {
			shell.Example = "  berth completion " + shell.Name()
			if shell.Name() == "powershell" {
				c.RemoveCommand(shell)
			}
		}
	}
}
