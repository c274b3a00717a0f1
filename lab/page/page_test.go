package page

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReplace: only what is between the marks changes, and it says when it was measured.
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
	if err := os.WriteFile(file, []byte("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^a\n<!-- x:begin -->\nMeasured \d{4}-\d\d-\d\d with commit [^\n]+\.\n\n\| new \|\n<!-- x:end -->\nb\n$`)
	for range 2 { // again, over what it has written itself
		if err := table.Replace("\n| new |\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || !want.Match(got) {
			t.Errorf("the page is %q, %v", got, err)
		}
	}
}
