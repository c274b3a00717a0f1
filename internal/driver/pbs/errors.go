package pbs

import (
	"strings"

	"berth/internal/driver/batch"
)

// kinds maps messages to kinds of errors by texts that they contain. The first match counts.
var kinds = []batch.Kind{
	{Err: batch.ErrAway, Contains: "cannot connect to server|" +
		batch.NoConnection + "|Communication failure|Premature end of|End of File|End of file|Batch protocol error|" +
		"Unable to connect|pbs_iff|Expired|shutting down|System error|Internal server error|Internal error|Resource temporarily|" +
		"No space left|Cannot save|Timeout"},
	{Err: batch.ErrGone, Contains: "Unknown Job Id|Job has finished|Request invalid for state of job"},
	{Err: batch.ErrLater, Contains: "would exceed|Maximum number of jobs|Queue is not enabled|limit on "},
}

// prefixes begin lines of messages and say nothing.
const prefixes = "qsub: |qstat: |qselect: |qalter: |qdel: |qsig: |pbsnodes: |pbs_rstat: "

// classify makes an error from a command's message.
func classify(name, said string, _ int) error { return batch.Failure(kinds, name, said, words(said)) }

// words returns a command's messages in one line, without the usage.
func words(said string) string {
	said, _, _ = strings.Cut(said, "usage:")
	return batch.OneLine(said, prefixes, strings.TrimSpace)
}
