package streaming

import (
	"slices"
	"strings"

	"berth/internal/core/job"
)

// SplitCommand splits a command into words as Hadoop Streaming does (PipeMapRed.splitArgs): at blanks outside of
// quotes. There is no shell and no escape character. A quote ends a word, so a'b c'd are the words a, "b c" and d.
func SplitCommand(command string) []string {
	var words []string
	quote := byte(0)
	start := 0
	for i := 0; i <= len(command); i++ {
		end := i == len(command)
		if !end {
			switch c := command[i]; {
			case quote == 0 && (c == '\'' || c == '"'):
				quote, end = c, true
			case quote != 0 && c == quote:
				quote, end = 0, true
			case quote == 0 && c == ' ':
				end = true
			}
		}
		if end {
			if i > start {
				words = append(words, command[start:i])
			}
			start = i + 1
		}
	}
	return words
}

// warnShell warns about words that only a shell would interpret.
func (b *builder) warnShell(where, command string) {
	if w := job.ShellWord(SplitCommand(command)); w != "" && slices.Contains(strings.Fields(command), w) {
		b.warn("%s: %q goes to the program as an argument, as there is no shell; write sh -c '…' where one is meant", where, w)
		return
	}
	if strings.Count(command, `"`)%2 != 0 && !strings.Contains(command, `'`) || strings.Count(command, `'`)%2 != 0 && !strings.Contains(command, `"`) {
		b.warn("%s: a quote in %q is not closed", where, command)
	}
}
