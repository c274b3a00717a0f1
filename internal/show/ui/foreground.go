package ui

import (
	"cmp"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/core/pattern"
)

// foregroundWriter passes frames to the terminal only while the process is in the foreground. A command in the
// background would else erase the output of the shell and other commands, because each frame moves the cursor up over
// the frame before it.
type foregroundWriter struct {
	out   io.Writer
	front func() bool // reports whether the process is in the foreground

	mu     sync.Mutex
	hidden bool // the last frame was not written
}

// newForegroundWriter returns a writer that checks the terminal at each frame, if out is one.
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

// rewind matches the start of a frame that overwrites the one before: cursor up, then erase to the end.
var rewind = pattern.Lazy(`^\r?\x1b\[[0-9]+A\x1b\[J`)

// Write writes a frame, or drops it in the background. The first frame after that is written below the output of
// other commands.
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
		out = rewind().ReplaceAll(frame, nil)
	}
	if _, err := w.out.Write(out); err != nil {
		return 0, err
	}
	return len(frame), nil
}

// behind writes text while the process is in the background, where it cannot be placed above the frame, and reports
// whether it did.
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

// unbounded is a width for mpb that nothing exceeds: the frames use the terminal's own width.
const unbounded = 10_000

// width returns the terminal's columns, or the given number where out is no terminal.
func (w *foregroundWriter) width(other int) int {
	columns, _, _ := terminalSize(w.out)
	return cmp.Or(columns, other)
}
