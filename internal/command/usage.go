package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/compat/synonyms"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// name returns what stands behind "berth" on the command line.
func name(c *cobra.Command, more ...string) string {
	return strings.Join(append(strings.Fields(c.CommandPath())[1:], more...), " ")
}

// group makes a command that has others under it say which there are when none is
// named, and refuse one that there is not.
func group(c *cobra.Command, under ...*cobra.Command) *cobra.Command {
	c.AddCommand(under...)
	c.DisableFlagsInUseLine = true
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var known []string
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				known = append(append(known, sub.Name()), sub.Aliases...)
			}
		}
		do := meant(c, "", args[0], known)
		if word := parse.Nearest(args[0], append(known, foreignWords(name(c))...)); word != "" && !slices.Contains(known, word) {
			do = elsewhere(strings.Fields(name(c, word))) // a misspelt word of another program
		}
		return job.ArgumentError("", fmt.Sprintf("there is no command %q", name(c, args[0])), do)
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// meant advises one who wrote a word that is not known.
func meant(c *cobra.Command, prefix, word string, known []string) string {
	if n := parse.Nearest(word, known); n != "" {
		return fmt.Sprintf("did you mean %s%s?", prefix, n)
	}
	return "see " + c.CommandPath() + " --help"
}

// flagError adds advice to what the flag library says.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &invalid) && kinds[invalid.GetFlag().Value.Type()] != "":
		return job.ArgumentError("", fmt.Sprintf("--%s: %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), kinds[invalid.GetFlag().Value.Type()]),
			"see "+c.CommandPath()+" --help")
	case !errors.As(err, &unknown):
		return job.ArgumentError("", err.Error(), "see "+c.CommandPath()+" --help")
	}
	word, dashes := unknown.GetSpecifiedName(), "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	do := adviseFlag(c, word)
	if _, is := synonyms.Flag(word); dashes == "--" && !is {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		do = meant(c, dashes, word, known)
	}
	return job.ArgumentError("", "there is no flag "+dashes+word, do)
}

// kinds says in words what values flags take, by their type.
var kinds = map[string]string{
	"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number", "bool": "true or false",
}

// NoArguments, someJobs and One say what a command may be followed by.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return job.ArgumentError("", fmt.Sprintf("%s takes no argument, but there is %q", name(c), args[0]), "")
	}
	return nil
}

func someJobs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return job.ArgumentError("", name(c)+" wants a job", "name it by id or number, or write last for the last one")
	}
	return nil
}

var (
	oneJob            = One("job", 0, false)
	oneBag            = One("bag", 1, true)
	oneFile           = One("job file", 1, true)
	atMostOneScenario = One("scenario", 0, true)
)

// One takes one argument at most and so many at least, and calls it by that word; help says whether an error points to --help.
func One(word string, least int, help bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= 1 {
			return nil
		}
		do := ""
		if help {
			do = "see " + c.CommandPath() + " --help"
		}
		if len(args) == 0 {
			return job.ArgumentError("", fmt.Sprintf("%s wants a %s", name(c), word), do)
		}
		return job.ArgumentError("", fmt.Sprintf("%s takes one %s, but there are %d arguments", name(c), word, len(args)), do)
	}
}
