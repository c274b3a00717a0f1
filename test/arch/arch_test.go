package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the module's folder, seen from this package's.
const root = "../.."

const module = "berth/"

func readPage(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func readTable(t *testing.T) layers {
	t.Helper()
	table, err := parseTable(readPage(t))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// source is a parsed file that is no test.
type source struct {
	file *ast.File
	pkg  string // as the table calls it
}

// fset has the positions of what sources returns.
var fset = token.NewFileSet()

// sources returns all files of the product and the laboratory that are no tests. They are parsed once.
func sources(t *testing.T) []source {
	t.Helper()
	found, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no source found")
	}
	return found
}

var parsed = sync.OnceValues(func() (found []source, err error) {
	for _, top := range []string{"internal", "cmd", "lab"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			found = append(found, source{f, strings.TrimPrefix(filepath.ToSlash(rel), "internal/")})
			return nil
		}))
	}
	return found, err
})

// TestImports: packages import their own layer and those that its row allows, and every package is in a layer.
func TestImports(t *testing.T) {
	table := readTable(t)
	for _, s := range sources(t) {
		f, ok := table[layerOf(s.pkg)]
		if !ok {
			t.Errorf("%s is in no layer of docs/architecture.md", s.pkg)
			continue
		}
		for _, name := range imported(s.file) {
			if !f.allows(layerOf(s.pkg), layerOf(name)) {
				t.Errorf("%s imports %s; its layer allows: %v", fset.Position(s.file.Package).Filename, name, f.below)
			}
		}
	}
}

// TestGonumIsTheLaboratorys: no package of the product links gonum, whose drawing and linear algebra doubled its size once.
func TestGonumIsTheLaboratorys(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if layerOf(s.pkg) != "lab" && strings.HasPrefix(spec.Path.Value, `"gonum.org/`) {
				t.Errorf("%s imports %s", fset.Position(spec.Pos()).Filename, spec.Path.Value)
			}
		}
	}
}

// TestRowsSayWhatIsImported: a row that allows what no package of the layer imports is out of date.
func TestRowsSayWhatIsImported(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range imported(s.file) {
			used[layerOf(s.pkg)+" "+layerOf(name)] = true
		}
	}
	for name, f := range readTable(t) {
		for _, below := range f.below {
			if !used[name+" "+below] {
				t.Errorf("the row of %s allows %s, which it does not import", name, below)
			}
		}
	}
}

// TestLayersLieBelow: each layer imports only layers that stand above it in the table, so none imports one that imports it.
func TestLayersLieBelow(t *testing.T) {
	table := readTable(t)
	for name, f := range table {
		for _, below := range f.below {
			if table[below].order >= f.order {
				t.Errorf("%s may import %s, which does not lie below it", name, below)
			}
		}
	}
}

// mostExported is the number of names that a package may export, as who uses a package has to know them. Methods and fields do not count.
// Package job may have more: it is the vocabulary of all others, and little beside.
const (
	mostExported = 71 // explain has a sentence for each reason
	mostOfJob    = 198
)

// TestExportedNames: a package that exports more names than one can keep in mind is several.
func TestExportedNames(t *testing.T) {
	names := map[string]int{}
	for _, s := range sources(t) {
		for name := range s.file.Scope.Objects {
			if ast.IsExported(name) {
				names[s.pkg]++
			}
		}
	}
	for pkg, n := range names {
		most := mostExported
		if pkg == "core/job" {
			most = mostOfJob
		}
		if n > most {
			t.Errorf("%s exports %d names; %d are the most", pkg, n, most)
		}
	}
}

// imported returns the packages of ours that the file imports.
func imported(file *ast.File) []string {
	var names []string
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && strings.HasPrefix(path, module) {
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/"))
		}
	}
	return names
}

// TestPackagesAreListed: the page lists each package, and no other.
func TestPackagesAreListed(t *testing.T) {
	_, list, _ := strings.Cut(readPage(t), tableEnd)
	list, _, _ = strings.Cut(list, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(list) {
		if cells := strings.Split(line, "`"); strings.HasPrefix(line, "| `") {
			listed[cells[1]] = true
		}
	}
	there := map[string]bool{}
	for _, s := range sources(t) {
		there[s.pkg] = true
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if !listed[name] {
			t.Errorf("docs/architecture.md does not list %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !there[name] {
			t.Errorf("docs/architecture.md lists %s, which does not exist", name)
		}
	}
}

// TestPureCore: what is marked pure is pure.
func TestPureCore(t *testing.T) {
	table := readTable(t)
	if !table.pure("core/engine") || table.pure("node/worker") {
		t.Error("core is not marked pure, or node is")
	}
	for _, s := range sources(t) {
		if !table.pure(s.pkg) {
			continue
		}
		for _, bad := range impurities(fset, s.file) {
			t.Error(bad)
		}
	}
}

// TestPurityIsSeen: each of these is found, once, and the rest is not objected to.
func TestPurityIsSeen(t *testing.T) {
	tests := map[string]string{
		`import "os"`:            "imports os",
		`import "net/http"`:      "imports net/http",
		`import "log/slog"`:      "imports log/slog",
		`import . "time"`:        "imports time into its own names",
		`func f() { go f() }`:    "starts a goroutine",
		`var c chan int`:         "uses a channel",
		`func f() { c <- 1 }`:    "sends on a channel",
		`func f() { <-c }`:       "receives from a channel",
		`func f() { select {} }`: "selects on channels",

		"import \"time\"\nvar t = time.Now":                                                 "uses time.Now",
		"import clock \"time\"\nfunc f() { clock.Sleep(1) }":                                "uses time.Sleep",
		"import \"time\"\nvar d = 2 * time.Second":                                          "",
		"import \"time\"\ntype T struct{ Now int }\nfunc f(time T) int { return time.Now }": "",
		"import \"math/rand/v2\"\nvar n = rand.IntN(3)":                                     "uses math/rand/v2.IntN",
		"import \"math/rand\"\nfunc f() { rand.Shuffle(1, nil) }":                           "uses math/rand.Shuffle",
		"import \"math/rand/v2\"\nvar r = rand.New(rand.NewPCG(1, 2)).IntN(3)":              "",
		"import \"path/filepath\"\nvar g = filepath.Glob":                                   "uses path/filepath.Glob",
		"import \"fmt\"\nfunc f() { fmt.Println() }":                                        "uses fmt.Println",
		"import \"osx\"": "",
	}
	for src, want := range tests {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", "package x\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := impurities(fset, f)
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s: %v", src, got)
		case want != "" && (len(got) != 1 || !strings.HasSuffix(got[0], want)):
			t.Errorf("%s: got %v, want %s", src, got, want)
		}
	}
}

func TestTableIsParsed(t *testing.T) {
	page := func(rows ...string) string {
		return fmt.Sprintf("text\n%s\n| layer | purpose | may import | pure |\n|---|---|---|---|\n%s\n%s\n", tableBegin, strings.Join(rows, "\n"), tableEnd)
	}
	table, err := parseTable(page("| `a` | x | – | all |", "| `b` | x | a | c, d/e |", "| `c` | x | – | |"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to string
		want     bool
	}{{"a", "b", false}, {"b", "a", true}, {"b", "b", true}, {"b", "c", false}} {
		if got := table[tt.from].allows(tt.from, tt.to); got != tt.want {
			t.Errorf("%s imports %s: allowed = %v", tt.from, tt.to, got)
		}
	}
	for name, want := range map[string]bool{"a/x": true, "a": true, "b": false, "b/c": true, "b/d": false, "b/d/e": true, "c/x": false} {
		if table.pure(name) != want {
			t.Errorf("%s is pure: %v", name, !want)
		}
	}
	for _, bad := range []string{
		"no table", page("| a | b |"), page("| `a` | x | nobody | |"), page("| `a` | x | – | |", "| `a` | x | – | |"), page("| `a` | x |  | |"),
	} {
		if table, err := parseTable(bad); err == nil {
			t.Errorf("%q was accepted: %v", bad, table)
		}
	}
}
