package ui

import (
	"strings"
	"testing"

	"berth/internal/server/report"
)

// TestAlike: equal tracebacks are one with a count. Another cause, another last line and short errors stand for themselves.
func TestAlike(t *testing.T) {
	v := report.JobView{FailuresTotal: 11}
	add := func(name, stderr string, exit, attempt int) {
		v.Failures = append(v.Failures, report.Failure{Task: len(v.Failures), Name: name, Input: name + ".txt", Stderr: strings.ReplaceAll(stderr, "{}", name+".txt"), Exit: exit, Attempt: attempt, Final: true})
	}
	const trace = "Traceback\n  File fit.py\nno file {}\n"
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		add(name, trace, 1, 1)
	}
	add("b", trace, 1, 2)
	add("h", trace, 2, 1)
	add("i", "short\n", 1, 1)
	add("j", "short\n", 1, 1)
	var b sheet
	reportFailures(&b, v)
	const want = `
11 failures
a (a.txt) failed: exit 1
  | Traceback
  |   File fit.py
  | no file a.txt
7 more attempts failed alike: b (b.txt); c (c.txt); d (d.txt); e (e.txt); f (f.txt); and 2 more
h (h.txt) failed: exit 2
  | the same 3 lines as a, attempt 1, with its own input
i (i.txt) failed: exit 1
  | short
j (j.txt) failed: exit 1
  | short
`
	if b.String() != want {
		t.Errorf("it is%s, want%s", b.String(), want)
	}
}

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
