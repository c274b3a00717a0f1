package batch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// What implementations of System have in common.

// What neither a file's name nor a job's name should have.
var (
	strange = pattern.Lazy(`[^A-Za-z0-9_-]`)
	refused = pattern.Lazy(`[^A-Za-z0-9._-]`)
)

// ClusterID returns an id of a cluster. It is the cluster's name, for people, and a hash of where its controller is, as small clusters
// often have the same name. The id can be a file's name.
func ClusterID(name string, at ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{name}, at...), "\n")))
	return strange().ReplaceAllString(name, "") + "-" + hex.EncodeToString(sum[:6])
}

// LongestName is the length of the longest name that JobName returns, in bytes.
const LongestName = 64

// JobName returns the name of a job in the queue, for a name that may have any characters. Some sites refuse all others than these.
func JobName(name string) string {
	name = refused().ReplaceAllString(cmp.Or(name, "berth"), "_")
	if name[0] != '_' && !unicode.IsLetter(rune(name[0])) {
		name = "_" + name
	}
	return name[:min(len(name), LongestName)]
}

// UserName returns the user's name, as batch systems print it.
func UserName(env []string) string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	if name := job.Getenv(env, "USER"); name != "" {
		return name
	}
	return strconv.Itoa(os.Getuid())
}

// WorkersEnded reports whether a worker of the allocation with this folder has ended or was given up.
func WorkersEnded(dir string) bool {
	entries, _ := os.ReadDir(dir) // none can be read where the folder is gone
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), EndedEnd) || strings.HasSuffix(e.Name(), FailedEnd)
	})
}

// OutOfMemory returns the message for a job that ran out of memory, with the remedy.
func OutOfMemory(req job.AllocRequest) string {
	had := ""
	if req.PerNode.Mem > 0 {
		had = " than the job's " + job.FormatSize(req.PerNode.Mem) + " on a node"
	}
	return "it ran out of memory: its tasks used more" + had + "; give each task more by --mem, or run fewer tasks at once on a node"
}

// Where returns those of the user's options that say where a job runs and whose account it uses, by the beginnings of such options with
// their values, without blanks: "-q", "-Wgroup_list".
func Where(args, options []string) (kept []string) {
	words := strings.Fields(strings.Join(args, " "))
	for i, word := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		if slices.ContainsFunc(options, func(option string) bool {
			return strings.HasPrefix(word+after, option) || before != "" && strings.HasPrefix(option, before) && strings.HasPrefix(before+word, option)
		}) {
			kept = append(kept, word)
		}
	}
	return kept
}

// NoOutput is what LastWords returns of a file without such a line.
const NoOutput = "its output is empty"

// LastWords returns the last line of a job's output that informs. Empty lines do not, and neither do those that contain one of these texts.
func LastWords(log string, skip ...string) string {
	b, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "its output cannot be read: " + err.Error()
	}
	last := NoOutput
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && !slices.ContainsFunc(skip, func(text string) bool { return strings.Contains(line, text) }) {
			last = line
		}
	}
	return last
}
