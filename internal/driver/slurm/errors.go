package slurm

import (
	"errors"
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// errAway, as job.Error.Err, says that the controller does not answer. It is unknown whether the controller carried out the request.
var errAway = errors.New("the Slurm controller does not answer")

// kinds maps messages to kinds of errors by texts that they contain. The first match counts. The texts are
// from Slurm's error table, to which new versions only add entries.
var kinds = []struct {
	kind     error
	contains []string
}{
	{batch.ErrGone, []string{"Invalid job id", "Job/step already completing or completed"}},
	{batch.ErrLater, []string{"MaxSubmitJob", "GrpSubmitJob", "MaxSubmitJobsPerAccount", "Required partition not available", "System submissions disabled",
		"Requested nodes are busy", "Requested partition configuration not available now", "Partition in DOWN state", "Rate limit exceeded"}},
	{errAway, []string{"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Connection reset", "Connection timed out",
		"No route to host", "Network is unreachable", "Broken pipe", "standby mode", "temporarily un", "Zero Bytes were transmitted",
		"authentication error", "Protocol authentication", "Munge", "munge", "authentication plugin", "Slurm internal error", "I/O error writing script",
		"Unspecified error", "Communication connection failure", "Communication shutdown failure", "Message receive failure", "Message send failure",
		"Unexpected message received", "Insane message length", "Header lengths are longer", "try a different controller", "DNS SRV lookup failed",
		"Unable to establish"}},
}

// classify makes an error from a command's message: transient if a retry may help,
// else the user's error, in Slurm's own words.
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

// words returns a command's messages in one line, without the prefixes of each line and without
// "Batch job submission failed:", which the caller says itself.
func words(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"sbatch: ", "squeue: ", "scontrol: ", "scancel: ", "sacct: ", "error: ", "fatal: ",
			"Batch job submission failed: ", "allocation failure: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if call, rest, ok := strings.Cut(line, " error: "); ok && strings.HasPrefix(call, "slurm_") {
			line = rest
		}
		if line != "" && !strings.HasPrefix(line, "Try \"") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "the command failed without a message"
	}
	return strings.Join(lines, "; ")
}
