package test

import (
	"strings"
	"testing"
)

// TestResultsOnStandardOutput: what tasks of a bag wrote comes out as GNU parallel prints it.
func TestResultsOnStandardOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		// The first waits for the last, so that it ends last.
		{"in order", []string{"bag", "-k", "--", "[ {} = 3 ] && touch third; until [ -e third ] || [ {} = 2 ]; do sleep 0.01; done; echo {}", ":::", "1", "2", "3"}, "1\n2\n3\n"},
		{"tagged", []string{"bag", "-k", "--tag", "--colsep", ",", "--", "echo {2}; printf {1}", ":::", "a,b", "c,d"}, "a b\tb\na b\ta\nc d\td\nc d\tc\n"},
		{"named by the entry", []string{"bag", "-k", "--stdout", "res/{1/.}.out", "--", "echo {}", ":::", "x/1.txt"}, "x/1.txt\n"},
		{"what would be run", []string{"bag", "--dry-run", "--", "echo {} >{/.}.log", ":::", "a/b c.txt"}, "echo 'a/b c.txt' >'b c'.log\n"},
		{"again", []string{"cat", "bag-1"}, "1\n2\n3\n"},
		{"of one task", []string{"cat", "bag-1", "2"}, "2\n"},
		{"of a job that is over", []string{"wait", "-k", "bag-1"}, "1\n2\n3\n"},
	} {
		out, err := w.command(c.args...).Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q is printed (%v), want %q", c.name, out, err, c.want)
		}
	}
	if got := w.read("res/1.out"); got != "x/1.txt\n" {
		t.Errorf("the file that the entry names has %q", got)
	}
}

// TestResultsOfFailedTasks: a task that failed for good has its output printed, too, and its errors on standard error.
func TestResultsOfFailedTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("bag", "-k", "--retries", "1", "--", "echo {}; echo no {} >&2; [ {} = b ]", ":::", "a", "b")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || string(out) != "a\nb\n" {
		t.Errorf("%q is printed (%v), want a and b, and exit code 1 for one failed task", out, err)
	}
	for _, want := range []string{"no a\n", "no b\n"} {
		if !strings.Contains("\n"+errs.String(), "\n"+want) {
			t.Errorf("standard error has no line %q:\n%s", want, errs.String())
		}
	}
}
