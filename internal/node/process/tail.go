package process

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of what is kept of a failed task's standard error.
const (
	tailLines = 10
	tailBytes = 4 << 10
)

// LastLines returns the last lines of text without the final line end: at most tailLines lines and
// tailBytes bytes, as valid UTF-8.
func LastLines(text string) string {
	text = strings.TrimRight(text, "\n")
	cut := false
	if len(text) > tailBytes {
		text, cut = text[len(text)-tailBytes:], true
	}
	lines := strings.Split(text, "\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // the first line is incomplete
	}
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD")
}

// TailOf returns the last lines of a file, or "" if it cannot be read: the failure that the text
// would explain is reported in any case.
func TailOf(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0) // another process may have replaced the file
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return TailAt(f, st.Size())
}

// TailAt returns the last lines of a file of the given size.
func TailAt(f io.ReaderAt, size int64) string {
	// Bytes before the tail show whether its first line is complete.
	buf := make([]byte, min(size, 2*tailBytes))
	n, _ := f.ReadAt(buf, size-int64(len(buf))) // reads less if the file was truncated meanwhile
	return LastLines(string(buf[:n]))
}

// OneLine converts a reason to a single line.
func OneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
