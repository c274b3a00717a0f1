package ui

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Style is the capabilities of the output: width, colours, characters.
type Style struct {
	Width int  // columns
	Color bool // ANSI colours
	ASCII bool // no other characters in charts
}

// characters are those of charts.
type characters struct {
	side, corner, flat, tick, busy, free, times string
	levels                                      string // of a curve from 0 to all of a node's capacity
}

func (s Style) characters() characters {
	if s.ASCII {
		return characters{"|", "+", "-", "+", "#", ".", "x", " .:-=+*#@"}
	}
	return characters{"│", "└", "─", "┬", "█", "░", "×", " ▁▂▃▄▅▆▇█"}
}

// plainWidth is the width of text that goes to no terminal.
const plainWidth = 80

// StyleOf returns the capabilities of w: the terminal's width, colours unless NO_COLOR is set (no-color.org) or the
// terminal is a dumb one, and block characters where the locale's character set is UTF-8. Output that is no terminal
// is plain.
func StyleOf(w io.Writer, getenv func(string) string) Style {
	width, _, ok := terminalSize(w)
	if !ok {
		return Style{Width: plainWidth, ASCII: true}
	}
	return Style{
		Width: cmp.Or(width, plainWidth),
		ASCII: !utf8Locale(getenv) || columns("█") != 1, // in East Asian locales a block may be two columns wide
		Color: clever(getenv) && getenv("NO_COLOR") == "",
	}
}

// terminalSize returns the columns and lines of the terminal that w writes to, 0 where it does not report them, and
// whether w is a terminal.
func terminalSize(w io.Writer) (columns, lines int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	columns, lines, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0, true
	}
	return columns, lines, true
}

// clever reports whether the terminal can move its cursor and show colours.
func clever(getenv func(string) string) bool {
	t := getenv("TERM")
	return t != "" && t != "dumb"
}

// utf8Locale reports whether the locale uses UTF-8, by the variables of POSIX in their order of precedence.
func utf8Locale(getenv func(string) string) bool {
	v := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}
