package ui

import (
	"io"
	"strings"
)

// ForTerminal returns a writer to w that wraps lines wider than the terminal at spaces, where the terminal itself
// would break words. Output that is no terminal is not changed. Each Write has whole lines.
func ForTerminal(w io.Writer) io.Writer {
	width, _, _ := terminalSize(w)
	if width < leastWrap {
		return w
	}
	return &wrapper{out: w, width: width}
}

// wrapper wraps lines.
type wrapper struct {
	out   io.Writer
	width int
}

func (w *wrapper) Write(p []byte) (int, error) {
	lines := strings.Split(strings.TrimSuffix(string(p), "\n"), "\n")
	return len(p), put(w.out, join(wrapLines(lines, w.width)))
}

// wrapLines wraps the lines that are wider than width at spaces. Continued lines are indented below the text of an
// item ("name text"), else by two columns more than the line.
func wrapLines(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

func wrapLine(line string, width int) []string {
	if columns(line) <= width {
		return []string{line}
	}
	return breakLine(line, width, min(hanging(line), width/2))
}

// wrap breaks text into lines of a width at spaces; longer words are cut.
func wrap(text string, width int) []string {
	width = max(width, 1)
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		return nil
	}
	lines := breakLine(words, width, 0)
	for i := range lines {
		lines[i] = fit(lines[i], width)
	}
	return lines
}

// breakLine breaks a line that is wider than width at spaces, and indents the continuation.
func breakLine(line string, width, by int) []string {
	indent := strings.Repeat(" ", by)
	var out []string
	for columns(line) > width {
		at := lastSpace(line, width, len(indent))
		if at < 0 {
			break // one long word: the terminal breaks it
		}
		out = append(out, strings.TrimRight(line[:at], " "))
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return append(out, line)
}

// itemIndent is the column at which the text of an item begins (item).
const itemIndent = 11

// hanging returns the indent of the continuation of a line.
func hanging(line string) int {
	lead := len(line) - len(strings.TrimLeft(line, " "))
	if lead == 0 && len(line) > itemIndent && line[itemIndent-1] == ' ' && line[itemIndent] != ' ' &&
		!strings.Contains(strings.TrimRight(line[:itemIndent], " "), " ") {
		return itemIndent
	}
	return lead + 2
}

// lastSpace returns the index of the space at which a line is broken: the last one within width columns, or the first
// one after a longer word; −1 without any. Spaces in the first skip bytes do not count.
func lastSpace(line string, width, skip int) int {
	best := -1
	for i := skip; i < len(line); i++ {
		if line[i] != ' ' {
			continue
		}
		within := columns(line[:i]) <= width
		if within || best < 0 {
			best = i
		}
		if !within {
			break
		}
	}
	if best >= 0 && (strings.Trim(line[best:], " ") == "" || strings.Trim(line[:best], " ") == "") {
		return -1
	}
	return best
}
