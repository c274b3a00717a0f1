package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/compat/synonyms"
	"berth/internal/core/job"
	"berth/internal/driver/registry"
)

// adviseFlag advises one who wrote a flag that is not known but elsewhere.
func adviseFlag(c *cobra.Command, flag string) string {
	if here, is := synonyms.Flag(flag); is && (c.Name() == "bag" || c.Name() == "run") {
		return advice(here)
	}
	return "see " + c.CommandPath() + " --help"
}

// advice tells what does here what something does elsewhere: a flag or a command, or why there is none. {batch} stands for
// the flag that passes an argument to the batch system whose flags have such names.
func advice(here string) string {
	for _, w := range registry.Words() {
		if w.Directives != "" {
			here = strings.ReplaceAll(here, "{batch}", "--"+w.Flag+"=--")
		}
	}
	if strings.HasPrefix(here, "-") || strings.HasPrefix(here, "berth") {
		return "use " + here
	}
	return here
}

// foreign adds to a command and to those under it a hidden one for each word that another program has there and berth has
// not. It says what does the same here, and takes every flag, as those of the other program may follow.
func foreign(c *cobra.Command) *cobra.Command {
	under, own := "", make(map[string]bool)
	if c.HasParent() {
		under = c.Name()
	}
	for _, sub := range c.Commands() {
		own[sub.Name()] = true
		if !c.HasParent() {
			foreign(sub)
		}
	}
	for _, word := range foreignWords(under) {
		if own[word] {
			continue
		}
		sub := &cobra.Command{Use: word, Short: "Say what does here what it does elsewhere", Hidden: true, DisableFlagParsing: true}
		sub.Example = "  berth " + strings.TrimSpace(under+" "+word)
		sub.RunE = func(_ *cobra.Command, args []string) error {
			return job.ArgumentError("", fmt.Sprintf("there is no command %q", name(sub)), elsewhere(append(strings.Fields(name(sub)), args...)))
		}
		c.AddCommand(sub)
	}
	return c
}

// foreignWords returns the words that other programs have under a command of that name, in order.
func foreignWords(under string) []string {
	words := synonyms.Under(under)
	if under == "" {
		words = append(words, slices.Sorted(maps.Keys(batchWords()))...)
	}
	return words
}

// elsewhere tells what does here what the words of another program's command do.
func elsewhere(words []string) string {
	here, known := batchWords()[words[0]]
	if !known {
		here, _ = synonyms.Command(words)
	}
	return advice(here)
}

// batchWords returns the commands of batch systems with those that do the same here.
func batchWords() map[string]string {
	words := make(map[string]string)
	for _, w := range registry.Words() {
		for _, list := range append([]string{w.Ask}, w.List...) {
			words[list] = "berth status"
		}
		for _, run := range append([]string{w.Command}, w.Run...) {
			words[run] = "berth bag -- COMMAND; one task is --array 1"
		}
		words[w.Cancel] = "berth cancel JOB"
	}
	delete(words, "") // a batch system without one of them
	return words
}
