package ui

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Look is what text on standard output may use.
type Look struct {
	Width int  // columns
	Color bool // ANSI colours
	ASCII bool // no other characters in charts
}

// plainWidth is the width of text that goes to no terminal.
const plainWidth = 80

// LookOf finds out how text on w may look: as wide as the terminal, in colours unless
// NO_COLOR is set (no-color.org) or the terminal is a dumb one, and with block characters where
// the locale's character set is UTF-8. What goes to no terminal is plain.
func LookOf(w io.Writer, getenv func(string) string) Look {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Look{Width: plainWidth, ASCII: true}
	}
	l := Look{Width: plainWidth, ASCII: !utf8Locale(getenv) || columns("█") != 1} // in East Asian locales a block may take two
	if t := getenv("TERM"); t != "" && t != "dumb" {
		l.Color = getenv("NO_COLOR") == ""
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		l.Width = width
	}
	return l
}

// utf8Locale reports whether the locale is one of UTF-8, by the variables of POSIX in
// their order of precedence.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
