package pbs

import (
	"errors"
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// errAway, as job.Error.Err, says that the server does not answer. It is unknown whether it carried out the request.
var errAway = errors.New("the PBS server does not answer")

// kinds maps messages to kinds of errors by texts that they contain. The first match counts.
var kinds = []struct {
	kind     error
	contains []string
}{
	{errAway, []string{"cannot connect to server", "Connection refused", "Connection reset", "Connection timed out", "No route to host",
		"Network is unreachable", "Broken pipe", "Communication failure", "Premature end of", "End of File", "End of file", "Batch protocol error",
		"Unable to connect", "pbs_iff", "Expired", "shutting down", "System error", "Internal server error", "Internal error", "Resource temporarily",
		"No space left", "Cannot save", "Timeout"}},
	{batch.ErrGone, []string{"Unknown Job Id", "Job has finished", "Request invalid for state of job"}},
	{batch.ErrLater, []string{"would exceed", "Maximum number of jobs", "Queue is not enabled", "limit on "}},
}

// classify makes an error from a command's message: transient if a retry may help, else the user's error, in PBS's own words.
func classify(name, said string) error {
	what := words(said)
	for _, k := range kinds {
		for _, text := range k.contains {
			if !strings.Contains(said, text) {
				continue
			}
			class := job.Transient
			if k.kind == batch.ErrGone {
				class = job.User
			}
			return &job.Error{Class: class, Where: name, What: what, Err: k.kind}
		}
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: name, What: what}
}

// words returns a command's messages in one line, without the commands' names and without the usage.
func words(said string) string {
	said, _, _ = strings.Cut(said, "usage:")
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, name := range []string{"qsub: ", "qstat: ", "qselect: ", "qalter: ", "qdel: ", "qsig: ", "pbsnodes: ", "pbs_rstat: "} {
			line = strings.TrimPrefix(line, name)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "the command failed without a message"
	}
	return strings.Join(lines, "; ")
}
