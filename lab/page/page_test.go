package page

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReplace: only what is between the marks changes.
func TestReplace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	table := Table{File: file, Name: "x"}
	if err := table.Check(); err == nil {
		t.Error("a page that does not exist passes the check")
	}
	for _, text := range []string{"no marks", "<!-- x:end -->\n<!-- x:begin -->"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if table.Check() == nil || table.Replace("new\n") == nil {
			t.Errorf("the page %q is written to", text)
		}
	}
	write(t, file)
	for range 2 { // again, over what it has written itself
		if err := table.Replace("\n| new |\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "a\n<!-- x:begin -->\n| new |\n<!-- x:end -->\nb\n" {
			t.Errorf("the page is %q, %v", got, err)
		}
	}
}

func write(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRun: a table is written with date, commit, machine, load and repetitions; one that is made from results of earlier
// calls with the origins of all of those and their turns, the interrupted ones included, but not of calls without a result.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "page.md")
	write(t, file)
	run := func(only bool, failure error, turns ...int) error {
		r := &Run{Name: "test", Table: "x", Docs: file, Out: filepath.Join(dir, "out"), TableOnly: only, Repeat: 3, keeps: true}
		return r.do(context.Background(), func(context.Context) (string, error) {
			for _, n := range turns {
				r.Turn(n)
			}
			return "| new |\n", failure
		})
	}
	broken := errors.New("interrupted")
	for _, turns := range [][]int{nil, {0, 1}} {
		if err := run(false, broken, turns...); !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	if err := errors.Join(run(false, nil, 2), run(true, nil)); err != nil {
		t.Fatal(err)
	}
	one := ` on \d+ cores \([^;]+\), \d+ GiB, Linux [^;]+; load average [\d.]+ before, and while it ran [\d.]+ on average and [\d.]+ at most`
	commit := `\d{4}-\d\d-\d\d with commit [^;]+`
	want := regexp.MustCompile(`^a\n<!-- x:begin -->\nMeasured ` + commit + ` \(turns 1 to 2\)` + one + "; and " + commit + ` \(turn 3\)` + one +
		`\. 3 repetitions\.\n\n\| new \|\n<!-- x:end -->\nb\n$`)
	if got, err := os.ReadFile(file); err != nil || !want.Match(got) {
		t.Errorf("the page is %q, %v", got, err)
	}
}

// TestRunChecksFirst: nothing is measured for a page without the table.
func TestRunChecksFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	write(t, file)
	r := &Run{Name: "test", Table: "y", Docs: file}
	err := r.do(context.Background(), func(context.Context) (string, error) {
		t.Error("it is measured")
		return "", nil
	})
	if err == nil {
		t.Error("a page without the table passes")
	}
}
