package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// ScratchIn returns the user's own folder for intermediate data inside dir, a folder that may
// be shared with other users, as /tmp is, or contain other files.
func ScratchIn(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("berth-%d", os.Getuid()))
}

// LocalIn returns the user's own folder on a node's own disk: inside the folder that the user named, or if named is "", in TMPDIR, or in /var/tmp if
// TMPDIR is in memory, which tasks would lack.
func LocalIn(named string) (string, error) {
	var st unix.Statfs_t
	if named == "" && unix.Statfs(os.TempDir(), &st) == nil && st.Type == unix.TMPFS_MAGIC {
		named = "/var/tmp"
	}
	return filepath.Abs(ScratchIn(cmp.Or(named, os.TempDir())))
}

// NodesIn returns the folder inside a coordinator's folder that keeps the measurements of nodes, or "" if state is "".
func NodesIn(state string) string { return in(state, "nodes") }

// TraceIn returns the folder inside a coordinator's folder that keeps what was learned about the functions of programs, or ""
// if state is "".
func TraceIn(state string) string { return in(state, "trace") }

func in(state, name string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, name)
}

// LastLine returns the last line of a log that is not empty, at most its last maxLastLine bytes.
func LastLine(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	text := strings.TrimSpace(string(b[max(0, len(b)-maxLastLine):]))
	if text == "" {
		return "its log is empty"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// maxLastLine bounds the part of a log that is shown, in bytes.
const maxLastLine = 1000

// Unknown returns the allocations that have a folder in dir and are not among known: their journal was lost, or the
// coordinator ended before it had released them.
func Unknown(dir string, known []job.AllocID) ([]job.AllocID, error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, job.IOError(job.Fatal, dir, "cannot list the allocations", err)
	}
	var ids []job.AllocID
	for _, f := range folders {
		if id := job.AllocID(f.Name()); f.IsDir() && !slices.Contains(known, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
