package ui

import (
	"fmt"
	"io"
	"strings"
)

// Error writes an error for a person, "berth: where: what; do"; joined errors, for example those of a job file, get a
// line each. It is used in JSON mode too, so that standard output has results only.
func Error(w io.Writer, err error, colored bool) {
	for _, e := range gathered(err) {
		text := strings.Join(cleanLines(e.Error()), "; ")
		_, _ = fmt.Fprintln(w, color(colored).red("berth:"), text)
	}
}

// gathered returns the errors that errors.Join has joined, or err alone. It unwraps errors that add no text.
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
