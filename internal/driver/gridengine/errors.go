package gridengine

import (
	"strings"

	"berth/internal/driver/batch"
)

// kinds maps messages to kinds of errors by texts that they contain. The first match counts.
var kinds = []batch.Kind{
	{Err: batch.ErrAway, Contains: "unable to send message to qmaster|unable to contact qmaster|got send error|got read error|commlib error|cannot reach qmaster|" +
		"can't get response from qmaster|failed receiving gdi request|qmaster is shutting down|No space left|spooling database|be written|error opening file|temporarily"},
	{Err: batch.ErrLater, Contains: "jobs are allowed per user|jobs are allowed per cluster|job rejected: only|maximum number of jobs|is in drain state|submission is disabled"},
	{Err: batch.ErrGone, Of: "qdel|qalter", Contains: "does not exist|already in deletion"}, // others say so of other things
	{Contains: "SGE_ROOT|cell directory", Do: "source the settings.sh of your cluster, which sets SGE_ROOT and SGE_CELL"},
}

// classify makes an error from a command's message.
func classify(name, said string, _ int) error { return batch.Failure(kinds, name, said, words(said)) }

// prefixes begin lines of messages and say nothing.
const prefixes = "error: |critical error: |Unable to run job: |error: |denied: |job rejected: |verification: "

// words returns a command's messages in one line, without what the caller says itself. Of queues that the user did not name, and of
// hosts after the first, there is a message each that says nothing new.
func words(said string) string {
	first := true
	return batch.OneLine(said, prefixes, func(line string) string {
		if line == "Exiting." || strings.Contains(line, "hard queue list") || strings.Contains(line, "cannot run at host") && !first {
			return ""
		}
		first = first && line == ""
		return line
	})
}
