package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ScratchIn returns the folder of the user's own for intermediate data in a folder,
// which may be shared with others, as /tmp is, or hold other things.
func ScratchIn(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("berth-%d", os.Getuid()))
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
