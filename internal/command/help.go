package command

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
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
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run}
}
