package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/job"
)

// ScratchIn returns the folder of the user's own for intermediate data in a folder,
// which may be shared with others, as /tmp is, or hold other things.
func ScratchIn(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("berth-%d", os.Getuid()))
}

// NodesIn returns the folder in a coordinator's own folder that keeps what was measured of nodes, empty for one that has none.
func NodesIn(state string) string { return in(state, "nodes") }

// TraceIn returns the folder in it that keeps what was learned of the functions of programs, likewise. It is empty
// with BERTH_PLANT=off: then no function of a task is counted.
func TraceIn(state string) string {
	if os.Getenv("BERTH_PLANT") == "off" {
		return ""
	}
	return in(state, "trace")
}

func in(state, name string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, name)
}

// LastLine returns the last line of a log that says anything, bytes beyond maxLastLine cut off.
func LastLine(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	text := strings.TrimSpace(string(b[max(0, len(b)-maxLastLine):]))
	if text == "" {
		return "it says nothing"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// maxLastLine bounds what is shown of a log, bytes.
const maxLastLine = 1000

// Unknown returns the allocations that have a folder in dir and are not known: those whose journal was lost, or whose
// release a coordinator did not live to see through.
func Unknown(dir string, known []job.AllocID) ([]job.AllocID, error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: "cannot list the allocations", Err: err}
	}
	var ids []job.AllocID
	for _, f := range folders {
		if id := job.AllocID(f.Name()); f.IsDir() && !slices.Contains(known, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
