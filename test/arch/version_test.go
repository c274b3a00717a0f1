package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"berth"
)

// ofPackages matches the version in the name of a file of a release, or behind the name of the package for Python.
var ofPackages = regexp.MustCompile(`\bberth(?:-|_|==)(\d+\.\d+\.\d+)`)

// TestVersionsAgree: the program, the package for Python, the pages and the changelog have the version of the file VERSION.
func TestVersionsAgree(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	version := strings.TrimSpace(read("VERSION"))
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
		t.Fatalf("VERSION has %q, no version of three numbers", version)
	}
	if told := berth.Version(); !strings.HasPrefix(told, version+" ") {
		t.Errorf("the program says that it is %q; VERSION has %s", told, version)
	}
	if !strings.Contains(read("python/pyproject.toml"), "\nversion = \""+version+"\"\n") {
		t.Errorf("python/pyproject.toml has another version than VERSION, which has %s", version)
	}
	if first, _, _ := strings.Cut(strings.SplitAfterN(read(changes), "\n## ", 2)[1], "\n"); !strings.HasPrefix(first, version+",") && first != "Unreleased" {
		t.Errorf("%s begins with %q, and has no section for %s", changes, first, version)
	}
	named := 0
	for name, text := range pages(t, "*.md", "docs/*.md") {
		for _, m := range ofPackages.FindAllStringSubmatch(text, -1) {
			if named++; m[1] != version {
				t.Errorf("%s names %s; VERSION has %s", name, m[0], version)
			}
		}
	}
	if named == 0 {
		t.Error("no page names a file of a release")
	}
}
