package command

import (
	_ "embed"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
