package command

import (
	"cmp"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"berth"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
	"berth/internal/show/completion"
	"berth/internal/show/ui"
)

func rootLong() string {
	return `berth runs MapReduce jobs and bags of tasks on this machine, on a ` + systems() + ` cluster, on hosts
reached by ssh, or on rented machines. It decides how many workers and how much memory to
use, predicts how long a job takes, and never loses finished work.`
}

const rootExample = `  berth mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py
  berth bag --each-line files.txt -- gzip -k {}
  berth run job.toml
  berth status`

// systems names the batch systems, as in "on a Slurm cluster".
func systems() string { return registry.Each(func(w driver.BatchWords) string { return w.System }) }

// Extra is what another program adds to the command line of berth.
type Extra struct {
	Name     string           // of the program; empty: berth
	Commands []*cobra.Command // beside those of berth
	Policies leader.Policies  // likewise
}

// Root returns the command line of berth, with what another program adds to it.
func Root(extra Extra) *cobra.Command {
	root := newRoot(extra)
	for _, o := range own(extra.Policies) {
		root.AddCommand(o.make())
	}
	root.AddCommand(extra.Commands...)
	completion.Offer(root)
	group(completion.AddCommand(root))
	groupCommands(root)
	checkTopic(root)
	return foreign(root)
}

// checkTopic makes help refuse a word that is no command.
func checkTopic(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it has just been made
	help.Example = "  berth help bag\n  berth help plan bag --json"
	help.Args = func(_ *cobra.Command, words []string) error {
		if c, _, err := root.Find(words); len(words) > 0 && (err != nil || c == root) {
			return root.Args(root, words)
		}
		return nil
	}
}

// rootFor returns as much of that as a command line needs: the command that stands first, or none for the version. All commands take a
// process 0.7 MB and a millisecond or two. What explains several commands, completes words or refuses them has all.
func rootFor(extra Extra, args []string) *cobra.Command {
	root := newRoot(extra)
	if slices.Equal(args, []string{"--version"}) || slices.Equal(args, []string{"-v"}) {
		return root
	}
	for _, o := range own(extra.Policies) {
		if len(args) > 0 && o.name == args[0] && !slices.Contains(lookAtOthers, o.name) {
			c := o.make()
			root.AddCommand(c)
			foreign(c)
			return root
		}
	}
	return Root(extra)
}

// newRoot returns the command line without a command.
func newRoot(extra Extra) *cobra.Command {
	program := cmp.Or(extra.Name, "berth")
	root := &cobra.Command{
		Use: program, Short: "Run MapReduce jobs and bags of tasks so that they end as early as possible",
		Long: rootLong(), Example: rootExample,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.Flags().BoolP("version", "v", false, "version for "+program)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().Bool("json", false, "print the result as JSON and show no progress")
	helpJSON(root)
	group(root)
	root.RunE = func(c *cobra.Command, _ []string) error {
		if !is(c, "version") {
			return c.Help()
		}
		return ui.Say(c.OutOrStdout(), "%s %s", program, berth.Version())
	}
	return root
}

// ownCommand is a command of berth. A process makes those that it needs.
type ownCommand struct {
	name string
	make func() *cobra.Command
}

// lookAtOthers are the commands that look at all of them.
var lookAtOthers = []string{"hadoop", "docs"}

// own returns the commands of berth.
func own(policies leader.Policies) []ownCommand {
	return []ownCommand{
		{"mapreduce", func() *cobra.Command { return newMapReduce(submit) }},
		{"bag", func() *cobra.Command { return newBag("bag", submit) }},
		{"run", func() *cobra.Command { return newRun(submit) }},
		{"plan", newPlan}, {"front", newFront}, {"sample", newSample},
		{"status", newStatus}, {"progress", newProgress}, {"wait", newWait}, {"cat", newCat},
		{"add", newAdd}, {"close", newClose}, {"set", newSet}, {"limit", newLimit}, {"watch", newWatch},
		{"cancel", newCancel}, {"forget", newForget}, {"explain", newExplain},
		{"resume", newResume}, {"report", newReport}, {"dashboard", newDashboard},
		{"machines", newMachines}, {"simulate", newSimulate}, {"trace", newTrace},
		{"hadoop-home", newHadoopHome}, {"hadoop", newHadoop},
		{"hq-home", newHQHome}, {"hq", newHQ},
		{"server", func() *cobra.Command { return newServer(policies) }},
		{"mcp", func() *cobra.Command { return newMCP(policies) }},
		{"worker", newWorker}, {"docs", newDocs},
	}
}

// wantJSON reports whether --json was given.
func wantJSON(cmd *cobra.Command) bool { return is(cmd, "json") }

// is reports whether a command has a flag and it is given.
func is(cmd *cobra.Command, flag string) bool {
	v, err := cmd.Flags().GetBool(flag)
	return err == nil && v
}

// Show prints what a command has found out: as JSON where that is wanted, else as text.
func Show(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantJSON(cmd) {
		return ui.JSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

// display shows the user what package ui makes a text of.
func display[V any](cmd *cobra.Command, v V, text func(io.Writer, V) error) error {
	return Show(cmd, v, func(w io.Writer) error { return text(ui.ForTerminal(w), v) })
}

// reply shows the user v, of which a line is the text.
func reply(cmd *cobra.Command, v any, format string, args ...any) error {
	return Show(cmd, v, func(w io.Writer) error { return ui.Say(w, format, args...) })
}
