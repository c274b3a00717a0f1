package arch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"berth/internal/node/process"
)

const (
	widest    = 120  // characters of a line: a terminal shows it without breaking it
	mostLines = 3475 // of all pages for users, without what is generated and the changelog, which only grows
	generated = "docs/cli.md"
	changes   = "CHANGELOG.md"
)

// withTables are the pages whose tables tests read or write. A row cannot be broken, so it may be wider.
var withTables = []string{"docs/architecture.md", "docs/json.md"}

// forDevelopers are the pages that describe the code, and what those must know who bind a scheduler.
var forDevelopers = []string{"docs/architecture.md", "docs/models.md", "docs/planting.md", "docs/scripts.md", "docs/tour.md", "CONTRIBUTING.md"}

// pages returns the text of the pages that match the patterns, by their paths below the root.
func pages(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, p := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, p))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no page matches %s: %v", p, err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = string(text)
		}
	}
	return found
}

// TestPagesAreShort: lines fit a terminal, and a user can read all pages for users.
func TestPagesAreShort(t *testing.T) {
	lines := 0
	for name, text := range pages(t, "*.md", "docs/*.md") {
		developers, number, rows := slices.Contains(forDevelopers, name), 0, 0
		for line := range strings.Lines(text) {
			number++
			if slices.Contains(withTables, name) && strings.HasPrefix(line, "|") {
				rows++
				continue
			}
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > widest {
				t.Errorf("%s:%d has %d characters; a line may have %d", name, number, n, widest)
			}
		}
		if !developers && name != generated && name != changes {
			lines += number - rows
		}
	}
	if t.Logf("the pages for users have %d lines", lines); lines > mostLines {
		t.Errorf("the pages for users have %d lines; they may have %d", lines, mostLines)
	}
}

var measured = regexp.MustCompile(`(?m)^Measured 20\d\d-\d\d-\d\d\b`)

// TestResultsSayWhen: a page of results says when its tables were measured.
func TestResultsSayWhen(t *testing.T) {
	for name, text := range pages(t, "lab/results/*.md") {
		if filepath.Base(name) != "README.md" && !measured.MatchString(text) {
			t.Errorf("%s does not say when it was measured", name)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)|src="([^"]+)"`)
	fence   = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```$")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchors returns the names by which links reach the headings of a page.
func anchors(text string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return names
}

// TestLinksLeadSomewhere: the files and headings to which pages link exist.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t, "*.md", "docs/*.md", "lab/*.md", "lab/results/*.md")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(all[name], ""), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			path := name
			if file != "" {
				path = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s links to %s: %v", name, target, err)
			} else if text, ok := all[path]; ok && anchor != "" && !slices.Contains(anchors(text), anchor) {
				t.Errorf("%s links to %s: the page has no such heading", name, target)
			}
		}
	}
}

var (
	rootPath = regexp.MustCompile("(?:^|[\\s`(])(?:\\./)?((?:internal|lab|cmd|test|scripts|examples)/[\\w./-]*\\w)")
	partPath = regexp.MustCompile("`((?:[a-z0-9]+/)+[a-z_0-9]+\\.go)`")
)

// TestPathsExist: the files and folders of the repository that pages name exist, also those named by the end of their path.
func TestPathsExist(t *testing.T) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		paths = append(paths, "/"+filepath.ToSlash(strings.TrimPrefix(path, root)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range pages(t, "*.md", "docs/*.md", "lab/*.md", "lab/results/*.md") {
		for _, m := range rootPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
		for _, m := range partPath.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/"+m[1]) }) {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}

// productText returns the text of the product's source, scripts within it included, without tests.
func productText(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, top := range []string{"cmd/berth", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			source := filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") || filepath.Ext(path) == ".sh"
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !source:
				return nil
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

var variable = regexp.MustCompile(`\bBERTH_[A-Z0-9_]*[A-Z0-9]`)

// TestVariables: docs/variables.md names every variable of the product, and no other.
func TestVariables(t *testing.T) {
	page, source := pages(t, "docs/variables.md")["docs/variables.md"], productText(t)
	inPage, inSource := variable.FindAllString(page, -1), variable.FindAllString(source, -1)
	if len(inSource) == 0 {
		t.Fatal("the product has no variables")
	}
	slices.Sort(inSource)
	for _, name := range slices.Compact(inSource) {
		if !slices.Contains(inPage, name) {
			t.Errorf("docs/variables.md has no %s", name)
		}
	}
	for _, name := range inPage {
		if !slices.Contains(inSource, name) {
			t.Errorf("docs/variables.md has %s, which nothing reads or sets", name)
		}
	}
}

// TestVariablesOfTasks: the variables that docs/variables.md names as those of tasks are not passed on to what a task submits, and all that a user may
// set are.
func TestVariablesOfTasks(t *testing.T) {
	_, page, _ := strings.Cut(pages(t, "docs/variables.md")["docs/variables.md"], "## What a user may set")
	users, tasks, ok := strings.Cut(page, "## What a task sees")
	if !ok {
		t.Fatal("docs/variables.md has no such parts")
	}
	tasks, _, _ = strings.Cut(tasks, "\n## ")
	for _, name := range variable.FindAllString(users, -1) {
		if process.OfTask(name + "=") {
			t.Errorf("%s of a user is taken for one of a task", name)
		}
	}
	for _, name := range variable.FindAllString(tasks, -1) {
		if !process.OfTask(name + "=") {
			t.Errorf("%s of a task would reach the tasks that it submits", name)
		}
	}
}

var message = regexp.MustCompile("(?s)\\*\\*`([^`]+)`\\*\\*")

// TestMessagesOfPageExist: the messages that docs/troubleshooting.md explains are in the source. A part that differs each
// time is written as … there.
func TestMessagesOfPageExist(t *testing.T) {
	page, source := pages(t, "docs/troubleshooting.md")["docs/troubleshooting.md"], productText(t)
	found := message.FindAllStringSubmatch(page, -1)
	if len(found) == 0 {
		t.Fatal("docs/troubleshooting.md explains no message")
	}
	for _, m := range found {
		words := strings.Join(strings.Fields(m[1]), " ")
		for part := range strings.SplitSeq(words, "…") {
			if part = strings.Trim(part, " ,"); !strings.Contains(source, part) {
				t.Errorf("docs/troubleshooting.md explains %q; nothing prints %q", words, part)
			}
		}
	}
}
