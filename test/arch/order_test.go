package arch

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestOrderOfMaps: Go visits the keys of a map in an order that differs from run to run. So
// pure packages visit none: they sort the keys first. What they decide is then a function of
// their input, and a simulation gives the same bytes each time.
func TestOrderOfMaps(t *testing.T) {
	table := readTable(t)
	files := map[string][]*ast.File{}
	for _, s := range sources(t) {
		if table.pure(s.pkg) {
			files[s.pkg] = append(files[s.pkg], s.file)
		}
	}
	conf := types.Config{Importer: compiled(t, fset, importedBy(files))}
	for name, pkg := range files {
		found, err := mapOrders(conf, fset, pkg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, f := range found {
			t.Error(f)
		}
	}
}

// importedBy returns the paths of the packages that these packages import.
func importedBy(packages map[string][]*ast.File) []string {
	paths := map[string]bool{}
	for _, files := range packages {
		for _, f := range files {
			for _, spec := range f.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				paths[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// compiled returns an importer of these packages and all that they import, as the compiler left them. The tests of pure
// packages need the same, in the same configuration, so that nothing is compiled a second time.
func compiled(t *testing.T, fset *token.FileSet, paths []string) types.Importer {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path, file, _ := strings.Cut(lines.Text(), " ")
		exports[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(exports[path])
	})
}

// mapOrders returns where a package visits a map without sorting its keys or values first.
func mapOrders(conf types.Config, fset *token.FileSet, files []*ast.File) ([]string, error) {
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := conf.Check("x", fset, files, &info); err != nil {
		return nil, err
	}
	var found []string
	report := func(n ast.Node, what string) {
		found = append(found, fset.Position(n.Pos()).String()+": "+what)
	}
	for _, f := range files {
		sorted := map[ast.Expr]bool{} // arguments of functions that sort
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if _, ok := info.TypeOf(n.X).Underlying().(*types.Map); ok {
					report(n, "ranges over a map: sort its keys first")
				}
			case *ast.CallExpr:
				called := callee(&info, n)
				for _, arg := range n.Args {
					sorted[arg] = strings.HasPrefix(called, "slices.Sorted")
				}
				if slices.Contains([]string{"maps.Keys", "maps.Values", "maps.All"}, called) && !sorted[n] {
					report(n, "uses "+called+" without sorting: slices.Sorted and slices.SortedFunc do")
				}
			}
			return true
		})
	}
	return found, nil
}

// callee returns the function that is called, "maps.Keys" say, or the empty string where
// it is not one of another package.
func callee(info *types.Info, call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path() + "." + f.Name()
}

// TestOrderOfMapsIsSeen: each of these is found, once, and the rest is not objected to.
func TestOrderOfMapsIsSeen(t *testing.T) {
	conf := types.Config{Importer: compiled(t, token.NewFileSet(), []string{"maps", "slices"})}
	for src, want := range map[string]string{
		"type m map[int]bool\nfunc f(x m) { for range x {} }":                                                   "ranges over a map: sort its keys first",
		"import \"maps\"\nfunc f(x map[int]int) { for range maps.Values(x) {} }":                                "uses maps.Values without sorting: slices.Sorted and slices.SortedFunc do",
		"import (\n\"maps\"\n\"slices\"\n)\nfunc f(x map[int]int) { for range slices.Sorted(maps.Keys(x)) {} }": "",
		"func f(x []int) { for range x {} }":                                                                    "",
		"type k struct{}\nfunc (k) Keys(map[int]int) {}\nfunc f(maps k) { maps.Keys(nil) }":                     "",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", "package x\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mapOrders(conf, fset, []*ast.File{file})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasSuffix(got[0], want)) {
			t.Errorf("%s: got %v, want %q", src, got, want)
		}
	}
}
