package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	fileNamed = regexp.MustCompile(`[A-Za-z0-9_/]+\.go\b`)
	linkNamed = regexp.MustCompile(`\[([A-Z][A-Za-z]+(?:\.[A-Za-z]+){0,2})\]`)
	nameNamed = regexp.MustCompile(`(?m)^\S.*?\b([a-z0-9]+)(\.[A-Z][A-Za-z0-9]*)`) // not in the examples, which have variables
	pathNamed = regexp.MustCompile(`\binternal/[a-z0-9/]*[a-z0-9]`)
)

// TestSignposts: each file, package, function and type that a doc.go names exists.
func TestSignposts(t *testing.T) {
	declared, docs := declarations(t), 0
	for _, top := range []string{"internal", "lab"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "doc.go" {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				return err
			}
			docs++
			text := f.Doc.Text()
			for _, name := range fileNamed.FindAllString(text, -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil {
					t.Errorf("%s names the file %s, which is not there", path, name)
				}
			}
			for _, name := range pathNamed.FindAllString(text, -1) {
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					t.Errorf("%s names %s, which is not there", path, name)
				}
			}
			for _, m := range linkNamed.FindAllStringSubmatch(text, -1) {
				if !declared[m[1]] && !declared[f.Name.Name+"."+m[1]] {
					t.Errorf("%s names [%s], which does not exist", path, m[1])
				}
			}
			for _, m := range nameNamed.FindAllStringSubmatch(text, -1) {
				if declared[m[1]] && !declared[m[1]+m[2]] {
					t.Errorf("%s names %s%s, which does not exist", path, m[1], m[2])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if docs < 40 {
		t.Errorf("only %d signposts were found", docs)
	}
}
