package slurm

import (
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// unspecified is what Slurm says of a job that a filter of the site refuses. The filter may have said why in lines before it.
const unspecified = "Unspecified error"

var unspecifiedLines = pattern.Lazy(`(?m)^.*` + unspecified + `.*\n?`)

// What filters of sites may say of a request.
var (
	ofMemoryOption = driver.Says(`--mem|mem-per-cpu`)
	// useMemory says to use --mem, or not to ask for more by it than the cores have.
	useMemory = driver.Says(`(?i)use --mem`)
	// noMemory says that what is asked for is never accepted, so with ofMemoryOption: jobs have all memory that is there.
	noMemory = driver.Says(`(?i)not (allowed|permitted|necessary|supported|possible)|forbidden|disabled`)
	// noPartition says that the site chooses partitions itself; what refuses a certain partition does not count.
	noPartition = driver.Says(`(?i)(not|n't|never) (specify|set|give|request|choose|use) ((a|any) partition\b|partitions\b|--partition\b[^=])|--partition (is )?not allowed`)
	wantsTasks  = driver.Says(`(?i)specify (the |a )?number of tasks|specify --ntasks|--ntasks (is )?(required|missing|must)`)
)

// after returns the form of a request after a refusal, and whether there is another one to try.
func (f form) after(err error, req job.AllocRequest) (form, bool) {
	if job.ClassOf(err) != job.User {
		return f, false
	}
	says := err.Error()
	switch {
	case f.mem.args(req) != nil && ofMemoryOption(says) && (f.mem == memPerNode || noMemory(says) && !useMemory(says)):
		f.mem++
	case !f.tasks && wantsTasks(says):
		f.tasks = true
	case !f.anywhere && req.Batch.Partition != "" && noPartition(says):
		f.anywhere = true
	default:
		return f, false
	}
	return f, true
}

// kinds maps messages to kinds of errors by texts that they contain. The first match counts. The texts are
// from Slurm's error table, to which new versions only add entries.
var kinds = []batch.Kind{
	{Err: batch.ErrGone, Contains: "Invalid job id|Job/step already completing or completed"},
	{Err: batch.ErrLater, Contains: "MaxSubmitJob|GrpSubmitJob|MaxSubmitJobsPerAccount|Required partition not available|System submissions disabled|" +
		"Requested nodes are busy|Requested partition configuration not available now|Partition in DOWN state|Rate limit exceeded"},
	{Err: batch.ErrUnsaid, Contains: unspecified},
	{Err: batch.ErrAway, Contains: "Unable to contact slurm controller|Socket timed out|" +
		batch.NoConnection + "|standby mode|temporarily un|Zero Bytes were transmitted|" +
		"authentication error|Protocol authentication|Munge|munge|authentication plugin|Slurm internal error|I/O error writing script|" +
		"Communication connection failure|Communication shutdown failure|Message receive failure|Message send failure|" +
		"Unexpected message received|Insane message length|Header lengths are longer|try a different controller|DNS SRV lookup failed|" +
		"Unable to establish|missing socket"},
}

// prefixes begin lines of messages and say nothing, or what the caller says itself.
const prefixes = "sbatch: |squeue: |scontrol: |scancel: |sacct: |error: |fatal: |" +
	"Batch job submission failed: |allocation failure: "

// classify makes an error from a command's message. Slurm's commands say what a user did wrong, so one without a message was killed, or its
// controller did not answer it.
func classify(name, said string, _ int) error {
	if strings.TrimSpace(said) == "" {
		return job.TransientError(name, words(said), batch.ErrAway)
	}
	if site := unspecifiedLines().ReplaceAllString(said, ""); site != said && strings.TrimSpace(site) != "" {
		return job.ConfigError(name, words(site), "if it asks for an option, give that by --sbatch-arg")
	}
	return batch.Failure(kinds, name, said, words(said))
}

// words returns a command's messages in one line, without names of Slurm's functions.
func words(said string) string {
	return batch.OneLine(said, prefixes, func(line string) string {
		if call, rest, ok := strings.Cut(line, " error: "); ok && strings.HasPrefix(call, "slurm_") {
			line = rest
		}
		if strings.HasPrefix(line, "Try \"") {
			return ""
		}
		return line
	})
}
