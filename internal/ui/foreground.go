package ui

import (
	"cmp"
	"io"
	"os"
	"regexp"
	"sync"

	"golang.org/x/sys/unix"
)

// foregroundWriter passes on what is drawn in place only while the process is in the terminal's
// foreground. A command in the background would else erase what the shell and other commands write
// there, as each frame moves the cursor up over the frame before it.
type foregroundWriter struct {
	out   io.Writer
	front func() bool // reports whether the process is in the foreground

	mu     sync.Mutex
	hidden bool // the last frame was not written
}

// newForegroundWriter returns a writer that asks the terminal at each frame, if out is one.
func newForegroundWriter(out io.Writer) *foregroundWriter {
	w := &foregroundWriter{out: out, front: func() bool { return true }}
	if f, ok := out.(*os.File); ok {
		fd := int(f.Fd())
		w.front = func() bool {
			group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
			return err != nil || group == unix.Getpgrp() // an error: not our controlling terminal, so there is no background
		}
	}
	return w
}

// rewind is what a frame begins with that is drawn over the one before: up some lines, erase what is below.
var rewind = regexp.MustCompile(`^\r?\x1b\[[0-9]+A\x1b\[J`)

// Write writes a frame, or drops it in the background. The first one after that is written below what
// others wrote meanwhile.
func (w *foregroundWriter) Write(frame []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.front() {
		w.hidden = true
		return len(frame), nil
	}
	out := frame
	if w.hidden {
		w.hidden = false
		out = rewind.ReplaceAll(frame, nil)
	}
	if _, err := w.out.Write(out); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// behind writes text in the background, where it cannot go above what is drawn, and reports whether it did.
func (w *foregroundWriter) behind(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.front() {
		return false
	}
	w.hidden = true
	_, _ = io.WriteString(w.out, text)
	return true
}

// unbounded is a width for mpb that nothing exceeds: what is drawn asks for the terminal's own.
const unbounded = 10_000

// width returns the terminal's columns, or the other number where out is no terminal.
func (w *foregroundWriter) width(other int) int {
	columns, _, _ := terminalSize(w.out)
	return cmp.Or(columns, other)
}
