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
	if third := trace(2, "3", "c.txt", "no right to "); third != "  | the same 3 lines as task 1, attempt 1, and then\n  | no right to c.txt" {
		t.Errorf("an error that ends in another way is %q", third)
	}
	if fourth := shown.errorLines(report.Failure{Task: 3, Name: "4", Stderr: "Traceback\n  File fit.py\n    close(f)\nno\n"}); len(fourth) != 4 {
		t.Errorf("another error is %q", fourth)
	}
}
