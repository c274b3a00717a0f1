// Package synonyms knows flags and commands that users bring along from GNU parallel, xargs and HyperQueue, and says what
// does the same here. It is pure: tables and what looks into them.
package synonyms

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job/parse"
)

//go:embed flags.txt
var flagsText string

//go:embed commands.txt
var commandsText string

// The tables are read when they are asked for first, as most processes need none.
var flags, commands = table(flagsText), table(commandsText)

// table reads a table (parse.Rows): words, separated by commas, and what does the same here.
func table(text string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		all := map[string]string{}
		for _, row := range parse.Rows(text) {
			for word := range strings.SplitSeq(row[0], ", ") {
				all[word] = row[1]
			}
		}
		return all
	})
}

// Flag returns what does here what a flag does elsewhere.
func Flag(name string) (here string, known bool) {
	here, known = flags()[name]
	return here, known
}

// Command returns what does here what a command of several words does elsewhere, by as many of its words as are known.
func Command(words []string) (here string, known bool) {
	if len(words) > 1 {
		if here, known = commands()[strings.Join(words[:2], " ")]; known {
			return here, true
		}
	}
	if len(words) == 0 {
		return "", false
	}
	here, known = commands()[words[0]]
	return here, known
}

// Under returns the known words that may follow a command, in order; of the empty one those that may stand first.
func Under(command string) []string {
	words := make(map[string]bool)
	for _, c := range slices.Sorted(maps.Keys(commands())) {
		first, next, two := strings.Cut(c, " ")
		if command == "" {
			words[first] = true
		} else if two && first == command {
			words[next] = true
		}
	}
	return slices.Sorted(maps.Keys(words))
}
