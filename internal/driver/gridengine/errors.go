package gridengine

import (
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// kinds maps messages to kinds of errors by texts that they contain. The first match counts.
var kinds = []struct {
	kind     error
	contains []string
}{
	{errAway, []string{"unable to send message to qmaster", "unable to contact qmaster", "got send error", "got read error", "commlib error", "cannot reach qmaster",
		"can't get response from qmaster", "failed receiving gdi request", "qmaster is shutting down", "No space left", "spooling database", "be written", "error opening file", "temporarily"}},
	{batch.ErrGone, []string{"does not exist", "already in deletion"}},
	{batch.ErrLater, []string{"jobs are allowed per user", "jobs are allowed per cluster", "job rejected: only", "maximum number of jobs", "is in drain state", "submission is disabled"}},
}

// classify makes an error from a command's message: transient if a retry may help, else the user's error, in Grid Engine's own
// words. That something "does not exist" means the job only where a job was to be changed.
func classify(name, said string) error {
	what := words(said)
	for _, k := range kinds {
		for _, text := range k.contains {
			if !strings.Contains(said, text) || k.kind == batch.ErrGone && name != "qdel" && name != "qalter" {
				continue
			}
			class := job.Transient
			if k.kind == batch.ErrGone {
				class = job.User
			}
			return &job.Error{Class: class, Where: name, What: what, Err: k.kind}
		}
	}
	if strings.Contains(said, "SGE_ROOT") || strings.Contains(said, "cell directory") {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: name, What: what, Do: "source the settings.sh of your cluster, which sets SGE_ROOT and SGE_CELL"}
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: name, What: what}
}

// words returns a command's messages in one line, without what the caller says itself. Of queues that the user did not name, and of
// hosts after the first, there is a message each that says nothing new.
func words(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"error: ", "critical error: ", "Unable to run job: ", "error: ", "denied: ", "job rejected: ", "verification: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line == "" || line == "Exiting." || strings.Contains(line, "hard queue list") || strings.Contains(line, "cannot run at host") && len(lines) > 0 {
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "the command failed without a message"
	}
	return strings.Join(lines, "; ")
}
