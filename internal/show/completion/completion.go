// Package completion determines what shells offer to complete a command line: job ids, job files, and the values of
// flags.
package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/driver/registry"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// values are the completions of flags that have a few possible values.
var values = map[string][]string{
	"on":         append([]string{"auto"}, strings.Split(registry.Names(), ", ")...),
	"stragglers": {"auto", "duplicate", "abort", "tell", "off"},
	"wall-time":  {"auto", "upper", "max"},
	"order":      {"auto", "fifo", "shortest"},
	"stand-in":   {"on", "nodes", "off"},
}

// Offer sets the completions of a command and its subcommands.
func Offer(c *cobra.Command) {
	for _, sub := range c.Commands() {
		Offer(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if words, known := values[f.Name]; known {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // this fails only for a flag that already has completions
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
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !several {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return jobIDs(c, args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
	}
}

// only are the jobs that some commands can do anything with.
var only = map[string]func(report.JobView) bool{
	"add":    func(v report.JobView) bool { return v.Open },
	"close":  func(v report.JobView) bool { return v.Open },
	"cancel": func(v report.JobView) bool { return !v.State.Final() },
}

// patience is how long a completion waits for the coordinator.
const patience = time.Second

// jobIDs returns the ids of jobs for a command that are not in named, the newest first: of those that the coordinator knows if the
// command can do nothing with others, else of all.
func jobIDs(c *cobra.Command, named []string) (ids []string) {
	h, err := statedir.Open()
	if err != nil {
		return nil
	}
	if fits := only[c.Name()]; fits != nil {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		l, err := control.NewClient(h).List(ctx, false, "")
		for _, v := range slices.Backward(report.NewestLast(l.Jobs.Jobs)) {
			if id := string(v.ID); err == nil && fits(v) && !slices.Contains(named, id) {
				ids = append(ids, id)
			}
		}
		if err == nil {
			return ids
		}
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

// AddCommand adds cobra's command that prints completions, with an example for each common shell of Linux, and returns it.
func AddCommand(root *cobra.Command) (command *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		command = c
		c.Example = "  source <(berth completion bash)"
		for _, shell := range c.Commands() {
			shell.Example = "  berth completion " + shell.Name()
			if shell.Name() == "powershell" {
				c.RemoveCommand(shell)
			}
		}
	}
	return command
}
