package ui

import (
	"fmt"
	"io"
	"strings"
)

// Error writes an error for a person, "berth: where: what; do", and errors that were gathered, those of a job
// file say, on a line each. In JSON mode too: results then stay on standard output alone.
func Error(w io.Writer, err error, colored bool) {
	for _, e := range gathered(err) {
		text := strings.Join(cleanLines(e.Error()), "; ")
		_, _ = fmt.Fprintln(w, color(colored).red("berth:"), text)
	}
}

// gathered returns the errors that errors.Join has put together, err alone where there are none. Errors around
// them that add no text are looked through.
func gathered(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		parts := e.Unwrap()
		texts := make([]string, len(parts))
		for i, p := range parts {
			texts[i] = p.Error()
		}
		if strings.Join(texts, "\n") != err.Error() {
			return []error{err}
		}
		var all []error
		for _, p := range parts {
			all = append(all, gathered(p)...)
		}
		return all
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && inner.Error() == err.Error() {
			return gathered(inner)
		}
	}
	return []error{err}
}
