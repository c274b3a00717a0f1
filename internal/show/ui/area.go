package ui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// area is the last lines of what is written to a terminal, which are replaced in place by each frame.
type area struct {
	out   io.Writer
	front func() bool // reports whether the process is in the foreground
	drawn int         // lines of the frame that is on the screen
}

// newArea returns an area that checks the terminal at each frame, if out is one.
func newArea(out io.Writer) *area {
	a := &area{out: out, front: func() bool { return true }}
	if f, ok := out.(*os.File); ok {
		fd := int(f.Fd())
		a.front = func() bool {
			group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
			return err != nil || group == unix.Getpgrp() // an error: not our controlling terminal, so there is no background
		}
	}
	return a
}

// draw writes lines of text and below them a frame in the place of the frame before. In the background it writes the text alone:
// frames would erase the output of the shell and of other commands, because each moves the cursor up over the one before it. The first
// frame after that is below their output. Errors are ignored: a terminal that is gone must not stop a job.
func (a *area) draw(text, frame []string) {
	up := ""
	if !a.front() {
		frame = nil
	} else if a.drawn > 0 {
		up = fmt.Sprintf("\r\x1b[%dA\x1b[J", a.drawn) // what the user typed, ^C for one, has moved the cursor from the first column
	}
	if _, high, _ := terminalSize(a.out); high > 1 {
		frame = frame[:min(len(frame), high-1)]
	}
	a.drawn = len(frame)
	_, _ = io.WriteString(a.out, up+join(text)+join(frame))
}

// join ends each line with a newline.
func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
