package command

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/compat/streaming"
)

// pageWidth is how many characters a line of a list may have.
const pageWidth = 120

// writePage writes the page of all commands, from the commands themselves; more is what it says behind them.
func writePage(out io.Writer, root *cobra.Command, more string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\nWritten by `make docs` from the commands; a test holds it against them.\n\n%s\n", root.Long)
	fmt.Fprintf(&b, "\nEvery command takes `--json` and `--help`. Progress goes to standard error, results to standard\n"+
		"output; keys of JSON are in `json.md`.\n")
	for _, c := range root.Commands() {
		writeCommand(&b, c)
	}
	b.WriteString(more)
	writeStreaming(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func writeCommand(b *strings.Builder, c *cobra.Command) {
	if c.Hidden || !c.IsAvailableCommand() || c.Name() == "help" || c.Name() == "completion" {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	fmt.Fprintf(b, "%s.\n", c.Short)
	if c.Long != "" {
		fmt.Fprintf(b, "\n%s\n", c.Long)
	}
	fmt.Fprintf(b, "\n```\n%s\n```\n\n```\n%s\n```\n", c.UseLine(), c.Example)
	writeFlags(b, c)
	if c.Parent().Name() == "plan" {
		return // its flags are those of the command that it plans for
	}
	for _, sub := range c.Commands() {
		writeCommand(b, sub)
	}
}

func writeFlags(b *strings.Builder, c *cobra.Command) {
	head := "\n"
	shownFlags(c, func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		b.WriteString(head)
		writeItem(b, "`"+strings.TrimSpace(name+" "+kind)+"`", usage)
		head = ""
	})
}

// writeItem writes an item of a list, broken into lines.
func writeItem(b *strings.Builder, name, meaning string) {
	line := "- " + name
	if meaning != "" {
		line += ":"
	}
	for _, word := range strings.Fields(meaning) {
		if utf8.RuneCountInString(line+" "+word) > pageWidth {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// writeStreaming writes the flags and keys of the streaming command line.
func writeStreaming(b *strings.Builder) {
	fmt.Fprint(b, "\n## Flags of berth mapreduce\n\nworks: as in Hadoop; none: taken, but there is nothing for it to do; ignored: taken with a "+
		"warning; refused: passing\nover it would give other output.\n\n")
	for _, f := range streaming.Flags() {
		writeItem(b, fmt.Sprintf("`%s` (%s)", f.Usage(), f.Status), f.Meaning)
	}
	fmt.Fprint(b, "\n## Keys of berth mapreduce\n\n")
	for _, k := range streaming.Keys() {
		writeItem(b, fmt.Sprintf("%s (%s)", code(append([]string{k.Name}, k.Old...)), k.Status), k.Meaning)
	}
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// exitDocs is the page's section on exit codes.
const exitDocs = `
## Exit codes

The exit code of a job is that of its kind, whichever command waited for its end:

- ` + "`berth bag`" + `: 0 if all tasks are done; 1 to 100: the number of failed tasks; 101: more than 100 failed tasks; 102:
  not started in time (` + "`--start-within`" + `); 255: an error of berth's own or of ` + "`--joblog`" + `, or cancelled.
- ` + "`berth mapreduce`" + `: as [above](#berth-mapreduce).
- ` + "`berth run`, `resume`, `wait`, `progress --follow`" + `: of a bag as ` + "`berth bag`, of a MapReduce job as `berth mapreduce`" + `.
  255 also if berth cannot know the kind of the job: a flag that is unknown, a job file that cannot be read, a job that
  is not there.
- All others: 0, or what ` + "`berth mapreduce`" + ` has for such an error: 1 for invalid arguments, 5 for files that cannot be
  written, …

So for a bag a code from 1 to 101 always says how many tasks failed, and never what kind of error there was.
`
