package command

import (
	"cmp"
	_ "embed"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/compat/streaming"
	"berth/internal/show/ui"
)

//go:embed help.txt
var helpText string

// command makes a command with its texts in help.txt, by its name behind "berth".
func command(name string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	_, text, known := strings.Cut(helpText, "\n# "+name+" | ")
	if !known {
		panic("help.txt has no texts of " + name)
	}
	text, _, _ = strings.Cut(strings.TrimSuffix(text, "\n"), "\n# ")
	use, text, _ := strings.Cut(text, "\n")
	short, text, _ := strings.Cut(text, "\n")
	long, example, _ := strings.Cut(text, "\n---\n")
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run, DisableFlagsInUseLine: strings.Contains(use, "FLAG") || strings.Contains(use, "ARG...]")}
}

// addFlags adds a flag for each field of a struct with the tags flag, which is its name and after a comma its letter, and usage. What the field
// has is its default. A flag that is there already stays as it is.
func addFlags(fs *pflag.FlagSet, to any) {
	v := reflect.ValueOf(to).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, short, _ := strings.Cut(f.Tag.Get("flag"), ",")
		if name == "" || fs.Lookup(name) != nil {
			continue
		}
		usage := f.Tag.Get("usage")
		switch p := v.FieldByIndex(f.Index).Addr().Interface().(type) {
		case *bool:
			fs.BoolVarP(p, name, short, *p, usage)
		case *string:
			fs.StringVarP(p, name, short, *p, usage)
		case *int:
			fs.IntVar(p, name, *p, usage)
		case *float64:
			fs.Float64Var(p, name, *p, usage)
		}
	}
}

// Help is the JSON form of berth help: the command that was named, and all under it.
type Help struct {
	Commands []HelpCommand `json:"commands"` // every one also takes `--json` and `--help`
}

// HelpCommand is one command. It runs nothing itself where others are under it.
type HelpCommand struct {
	Name     string     `json:"name"`     // `berth plan bag`
	Usage    string     `json:"usage"`    // its command line, with words for what stands there
	Short    string     `json:"short"`    // one line
	Long     string     `json:"long"`     // what it does
	Examples string     `json:"examples"` // command lines, one a line
	Flags    []HelpFlag `json:"flags"`    // those of `berth mapreduce` with one dash, as Hadoop has them, or two
}

// HelpFlag is a flag of a command.
type HelpFlag struct {
	Name    string `json:"name"`            // without its dashes
	Short   string `json:"short,omitempty"` // its letter; may be absent: none
	Type    string `json:"type"`            // `bool`, `int`, `float`, or a word for the text that it takes
	Default string `json:"default"`         // empty: what `usage` says
	Usage   string `json:"usage"`           // what it is for
}

// helpJSON makes the help of all commands, by whichever way it is asked for, print JSON where that is wanted.
func helpJSON(root *cobra.Command) {
	text := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if asked, _ := root.PersistentFlags().GetBool("json"); !asked {
			text(c, args)
		} else if err := ui.JSON(c.OutOrStdout(), Help{Commands: helpOn(nil, c)}); err != nil {
			c.PrintErrln(err)
		}
	})
}

// helpOn appends a command and those under it.
func helpOn(list []HelpCommand, c *cobra.Command) []HelpCommand {
	one := HelpCommand{Name: c.CommandPath(), Usage: c.UseLine(), Short: c.Short, Long: c.Long, Examples: c.Example, Flags: []HelpFlag{}}
	shownFlags(c, func(f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		one.Flags = append(one.Flags, HelpFlag{Name: f.Name, Short: f.Shorthand, Type: cmp.Or(kind, "bool"), Default: f.DefValue, Usage: usage})
	})
	if c.DisableFlagParsing && c.Name() == "mapreduce" {
		one.Flags = nil
		for _, f := range streaming.Flags() {
			one.Flags = append(one.Flags, HelpFlag{Name: f.Name, Short: f.Short, Type: cmp.Or(f.Arg, "bool"), Usage: f.Meaning})
		}
	}
	list = append(list, one)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = helpOn(list, sub)
		}
	}
	return list
}

// shownFlags calls do for the flags of a command's own that its help shows.
func shownFlags(c *cobra.Command, do func(*pflag.Flag)) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			do(f)
		}
	})
}
