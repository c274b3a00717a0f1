package ui

import (
	"strings"
	"testing"

	"berth/internal/server/report"
)

// TestEqualErrors: a traceback that differs from an earlier one only in the input of its task is shown once.
func TestEqualErrors(t *testing.T) {
	var shown shownErrors
	trace := func(task int, name, input, text string) string {
		return strings.Join(shown.errorLines(report.Failure{Task: task, Name: name, Input: input, Attempt: 1,
			Stderr: "Traceback\n  File fit.py\n    open(f)\n" + text + input}), "\n")
	}
	if first := trace(0, "1", "a.txt", "no file "); strings.Count(first, "\n") != 3 {
		t.Errorf("the first is %q", first)
	}
	if second := trace(1, "2", "b.txt", "no file "); second != "  | the same 4 lines as task 1, attempt 1, with its own input" {
		t.Errorf("the second is %q", second)
	}
	if third := trace(2, "3", "c.txt", "no right to "); strings.Count(third, "\n") != 3 {
		t.Errorf("another error is %q", third)
	}
}
