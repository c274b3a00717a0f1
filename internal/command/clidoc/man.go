// Package clidoc writes pages for man on berth's commands, from the commands themselves.
package clidoc

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Man writes a page for man of each command into a folder, which is made. Pages do not change from day to day.
//
// It writes roff itself: cobra's package for it writes Markdown first, and so links readers of Markdown and YAML.
func Man(dir string, c *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, sub := range listed(c) {
		if err := Man(dir, sub); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, dashed(c)+".1"), []byte(manPage(c)), 0o644) //nolint:gosec // a page for all users
}

// listed returns the commands below a command that have pages.
func listed(c *cobra.Command) (all []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			all = append(all, sub)
		}
	}
	return all
}

func dashed(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func manPage(c *cobra.Command) string {
	c.InitDefaultHelpCmd()
	c.InitDefaultHelpFlag()
	var b strings.Builder
	b.WriteString(".nh\n.TH \"BERTH\" \"1\" \"\" \"berth\" \"berth\"\n")
	section(&b, "NAME", dashed(c)+" - "+roff(c.Short))
	section(&b, "SYNOPSIS", bold(c.UseLine()))
	section(&b, "DESCRIPTION", description(cmp.Or(c.Long, c.Short)))
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS INHERITED FROM PARENT COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		section(&b, "EXAMPLE", ".EX\n"+roff(c.Example)+"\n.EE")
	}
	var see []string
	if c.HasParent() {
		see = append(see, bold(dashed(c.Parent())+"(1)"))
	}
	for _, sub := range listed(c) {
		see = append(see, bold(dashed(sub)+"(1)"))
	}
	section(&b, "SEE ALSO", strings.Join(see, ", "))
	return b.String()
}

func section(b *strings.Builder, name, text string) { fmt.Fprintf(b, "\n.SH %s\n%s\n\n", name, text) }

// description returns paragraphs, of which indented ones are commands, and those that begin with #### are headings.
func description(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		heading, isHeading := strings.CutPrefix(p, "#### ")
		indent := p[:len(p)-len(strings.TrimLeft(p, " \t"))]
		switch {
		case isHeading:
			paragraphs[i] = ".SS " + roff(heading)
		case indent != "":
			paragraphs[i] = ".EX\n" + roff(strings.TrimPrefix(strings.ReplaceAll(p, "\n"+indent, "\n"), indent)) + "\n.EE"
		case i > 0:
			paragraphs[i] = ".PP\n" + roff(p)
		default:
			paragraphs[i] = roff(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func manFlags(b *strings.Builder, name string, flags *pflag.FlagSet) {
	var all []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Deprecated != "" || f.Hidden {
			return
		}
		names := bold("--" + f.Name)
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			names = bold("-"+f.Shorthand) + ", " + names
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + italic(value)
		}
		all = append(all, names+value+"\n\t"+roff(usage))
	})
	if len(all) > 0 {
		section(b, name, strings.Join(all, "\n\n.PP\n"))
	}
}

func bold(text string) string { return `\fB` + roff(text) + `\fP` }

func italic(text string) string { return `\fI` + roff(text) + `\fP` }

// roff returns text with the characters quoted that mean something in roff.
func roff(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, `\`, `\\`), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
