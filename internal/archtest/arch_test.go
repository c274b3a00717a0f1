package archtest

import (
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
	"testing"
)

// root is the module's folder, seen from this package's.
const root = "../.."

const module = "berth/"

func readTable(t *testing.T) map[string]row {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parseTable(string(doc))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// source is a parsed file that is no test.
type source struct {
	file *ast.File
	pkg  string // as the table calls it
}

// sources parses all files of the folders internal and cmd that are no tests.
func sources(t *testing.T, fset *token.FileSet) []source {
	t.Helper()
	var found []source
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
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
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) == 0 {
		t.Fatal("no source found")
	}
	return found
}

// TestImports: packages import what their rows allow, and every package has a row.
func TestImports(t *testing.T) {
	rows := readTable(t)
	fset := token.NewFileSet()
	for _, s := range sources(t, fset) {
		r, ok := rows[s.pkg]
		if !ok {
			t.Errorf("%s has no row in docs/architecture.md", s.pkg)
			rows[s.pkg] = row{all: true} // say it once
			continue
		}
		for _, bad := range badImports(s.file, r) {
			t.Errorf("%s imports %s; its row allows: %s", fset.Position(s.file.Package).Filename, bad, r.listed)
		}
	}
}

// TestRowsSayWhatIsImported: a row that allows what no file of the package imports is out of date.
func TestRowsSayWhatIsImported(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, s := range sources(t, token.NewFileSet()) {
		if used[s.pkg] == nil {
			used[s.pkg] = map[string]bool{}
		}
		for _, name := range badImports(s.file, row{}) { // all of ours
			used[s.pkg][name] = true
		}
	}
	for pkg, r := range readTable(t) {
		for _, name := range r.names {
			if !r.all && !used[pkg][name] {
				t.Errorf("the row of %s allows %s, which it does not import", pkg, name)
			}
		}
	}
}

// TestPackageSizes: a package of more than 4,000 lines is several.
func TestPackageSizes(t *testing.T) {
	fset := token.NewFileSet()
	lines := map[string]int{}
	for _, s := range sources(t, fset) {
		lines[s.pkg] += fset.File(s.file.Package).LineCount()
	}
	for pkg, n := range lines {
		if n > 4000 {
			t.Errorf("%s has %d lines; 4,000 are the most", pkg, n)
		}
	}
}

// badImports returns the packages of ours that the file imports and the row does not allow.
func badImports(file *ast.File, r row) []string {
	var bad []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasPrefix(path, module) {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
		if !r.allows(name) {
			bad = append(bad, name)
		}
	}
	return bad
}

// TestRowsStandForPackages: a row whose package is gone is a promise of nothing.
func TestRowsStandForPackages(t *testing.T) {
	there := map[string]bool{}
	for _, s := range sources(t, token.NewFileSet()) {
		there[s.pkg] = true
	}
	for _, name := range slices.Sorted(maps.Keys(readTable(t))) {
		if !there[name] {
			t.Errorf("docs/architecture.md has a row for %s, which does not exist", name)
		}
	}
}

// TestPureCore: what is marked pure is pure, and imports nothing of ours that is not.
func TestPureCore(t *testing.T) {
	rows := readTable(t)
	for _, name := range []string{"job", "event", "cluster", "predict", "plan", "sched", "step", "engine"} {
		if !rows[name].pure {
			t.Errorf("%s is not marked pure", name)
		}
	}
	for name, r := range rows {
		for _, n := range r.names {
			if r.pure && (r.all || !rows[n].pure) {
				t.Errorf("%s is pure but may import %s, which is not", name, n)
			}
		}
	}
	fset := token.NewFileSet()
	for _, s := range sources(t, fset) {
		if !rows[s.pkg].pure {
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
	table := func(rows ...string) string {
		return fmt.Sprintf("text\n%s\n| package | purpose | may import | pure |\n|---|---|---|---|\n%s\n%s\n", tableBegin, strings.Join(rows, "\n"), tableEnd)
	}
	rows, err := parseTable(table("| `a` | x | – | pure |", "| `b` | x | a | |", "| `c/d` | x | all but b | |", "| `e` | x | all | |"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to string
		want     bool
	}{{"a", "b", false}, {"b", "a", true}, {"b", "c/d", false}, {"c/d", "a", true}, {"c/d", "b", false}, {"e", "b", true}, {"e", "test/support/x", false}} {
		if got := rows[tt.from].allows(tt.to); got != tt.want {
			t.Errorf("%s imports %s: allowed = %v", tt.from, tt.to, got)
		}
	}
	if !rows["a"].pure || rows["b"].pure {
		t.Errorf("pure: %+v", rows)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nimport (\n\"fmt\"\n\"berth/internal/c/d\"\n\"berth/internal/a\"\n)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := badImports(f, rows["b"]); !slices.Equal(got, []string{"c/d"}) {
		t.Errorf("bad imports of b: %v", got)
	}
	for _, bad := range []string{
		"no table", table("| a | b |"), table("| `a` | x | nobody | |"), table("| `a` | x | – | maybe |"),
		table("| `a` | x | – | |", "| `a` | x | – | |"), table("| `a` | x |  | |"),
	} {
		if rows, err := parseTable(bad); err == nil {
			t.Errorf("%q was taken: %v", bad, rows)
		}
	}
}
