package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// mostWords is how many words the glossary may have: a longer one is not read.
const mostWords = 40

var quotedWord = regexp.MustCompile("`([^`]+)`")

// glossaryRows returns the rows of the glossary of a document, each as its three cells.
func glossaryRows(doc string) [][]string {
	_, rest, _ := strings.Cut(doc, "\n## Glossary\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word ") || len(cells) != 3 {
			continue
		}
		rows = append(rows, cells)
	}
	return rows
}

// avoidedWords returns the words that the glossary replaces everywhere: those in the last column that are set as code.
func avoidedWords(rows [][]string) []string {
	var words []string
	for _, cells := range rows {
		for _, m := range quotedWord.FindAllStringSubmatch(cells[2], -1) {
			words = append(words, m[1])
		}
	}
	return words
}

// wordsOf splits a text or an identifier into its words, in lower case: startTwin has the words start and twin.
func wordsOf(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	lower := false // the rune before was a lower-case letter
	for _, r := range text {
		if !unicode.IsLetter(r) || lower && unicode.IsUpper(r) {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return words
}

// usesOf returns which of the avoided words a text uses, in the singular, the plural or with -ed.
func usesOf(text string, avoided []string) []string {
	var used []string
	words := wordsOf(text)
	for _, a := range avoided {
		if slices.Contains(words, a) || slices.Contains(words, a+"s") || slices.Contains(words, a+"d") {
			used = append(used, a)
		}
	}
	return used
}

// repositoryFiles returns the paths of the repository's own files of some kinds, tests among them.
func repositoryFiles(t *testing.T, extensions ...string) []string {
	t.Helper()
	var paths []string
	for _, top := range []string{"internal", "cmd", "lab", "test", "docs", "examples", "README.md", "CONTRIBUTING.md"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "arch"):
				return fs.SkipDir
			case !d.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) == 0 {
		t.Fatal("no files found")
	}
	return paths
}

// TestGlossary: the glossary is short, and no file uses a word that it replaces.
func TestGlossary(t *testing.T) {
	architecture := filepath.Join(root, "docs", "architecture.md")
	doc, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	rows := glossaryRows(string(doc))
	if len(rows) == 0 || len(rows) > mostWords {
		t.Errorf("the glossary has %d words; it should have 1 to %d", len(rows), mostWords)
	}
	avoided := avoidedWords(rows)
	for _, path := range repositoryFiles(t, ".go", ".md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if path == architecture && strings.HasPrefix(line, "| ") {
				continue // the glossary itself
			}
			for _, word := range usesOf(line, avoided) {
				t.Errorf("%s:%d uses %q, which the glossary replaces", path, number, word)
			}
		}
	}
}

func TestAvoidedWordsAreFound(t *testing.T) {
	avoided := []string{"twin", "settle"}
	for text, want := range map[string]int{
		"startTwin": 1, "twins[k]": 1, "func (e *Engine) settled()": 1, "TwinSettles": 2, "between": 0, "twine": 0, "unsettling": 0,
	} {
		if got := usesOf(text, avoided); len(got) != want {
			t.Errorf("%s: found %v, want %d words", text, got, want)
		}
	}
}

// messagesOf returns the string literals of a file that read as text for people, two words at least, with their lines.
// Import paths and the tags of fields are none.
func messagesOf(fset *token.FileSet, file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if err == nil && n.Kind == token.STRING && len(wordsOf(text)) > 1 && strings.Contains(strings.TrimSpace(text), " ") {
				at := fset.Position(n.Pos())
				found = append(found, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, strings.ReplaceAll(text, "\n", "\\n")))
			}
		}
		return true
	})
	return found
}

// TestMessages prints every text that a user can get, so that they can be read one after the other:
// go test -v -run TestMessages ./test/arch. A message that is put together shows its parts.
func TestMessages(t *testing.T) {
	messages := 0
	for _, s := range sources(t) {
		for _, m := range messagesOf(fset, s.file) {
			messages++
			t.Log(m)
		}
	}
	if messages == 0 {
		t.Error("no messages found")
	}
}

func TestMessagesAreFound(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", "package x\nimport \"a b\"\ntype t struct { F int `json:\"f\" yaml:\"g\"` }\nvar s = \"no nodes\\nare free\"\nvar u = \"word\"", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := messagesOf(fset, file); !slices.Equal(got, []string{`x.go:4: no nodes\nare free`}) {
		t.Errorf("found %q", got)
	}
}
