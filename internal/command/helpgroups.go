package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/driver/registry"
)

// A helpGroup is a part of a list of commands or flags in a help text.
type helpGroup struct {
	title string
	names string // of commands or flags, separated by blanks
}

var commandGroups = []helpGroup{
	{"Run jobs:", "bag add close mapreduce run plan resume set limit"},
	{"Watch and end jobs:", "status progress wait watch explain cat report dashboard cancel forget"},
	{"Rented machines:", "front sample machines"},
	{"Other programs:", "mcp hadoop hadoop-home hq hq-home"},
	{"berth itself:", "server simulate trace completion docs help"},
}

// flagGroups reads the table of options, which most processes need not.
func flagGroups() []helpGroup {
	return []helpGroup{
		{"Entries", "each-line tasks array null colsep cpus-from mem-from gpus-from time-from ranks-from no-run-if-empty placeholder append open"},
		{"Tasks", "cpus-per-task mem gpus use ranks ranks-per-node each-rank limit-address-space warm shell time-limit signal requeue-exit retries max-fails throttle inputs outputs local duplicates-ok stragglers speculation progress"},
		{"Output", "outdir stdout stderr joblog group keep-order tag ungroup detach dry-run json"},
		{"Job", "job-name application after weight priority deadline notify"},
		{"Where it runs", "on workers nodes max-nodes time max-time idle-timeout scratch sort-memory hosts pass-env node-power node-disk node-net"},
		{"Batch system", batchFlags()},
		{"Rented machines", "machines catalogue budget"},
	}
}

// batchFlags returns the names of the flags that only batch systems use.
func batchFlags() string {
	var names []string
	for _, o := range registry.Options() {
		if o.Batch {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, " ")
}

// groupCommands puts the commands of the root into groups of its help text.
func groupCommands(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range strings.Fields(g.names) {
			if i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }); i >= 0 {
				root.Commands()[i].GroupID = g.title
			}
		}
	}
	root.SetHelpCommandGroupID(commandGroups[len(commandGroups)-1].title)
}

// groupedUsage writes the usage text of a command with many flags, in groups.
func groupedUsage(c *cobra.Command) error {
	out := c.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
	var all []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	for _, g := range append(flagGroups(), helpGroup{title: "Other"}) {
		names := strings.Fields(g.names)
		part := pflag.NewFlagSet("", pflag.ContinueOnError)
		all = slices.DeleteFunc(all, func(f *pflag.Flag) bool {
			mine := slices.Contains(names, f.Name) || g.names == ""
			if mine {
				part.AddFlag(f)
			}
			return mine
		})
		if part.HasAvailableFlags() {
			fmt.Fprintf(out, "\n%s:\n%s", g.title, part.FlagUsages())
		}
	}
	return nil
}
