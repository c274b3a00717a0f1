package ui

import (
	"fmt"
	"io"
	"strings"
)

// Error writes an error as the one line that a person gets, "berth: where: what; do",
// in JSON mode too: results then stay on standard output alone.
func Error(w io.Writer, err error, colored bool) {
	text := strings.Join(cleanLines(err.Error()), "; ")
	_, _ = fmt.Fprintln(w, color(colored).red("berth:"), text)
}
