package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// impure are the packages that pure code may not import, those below them included.
var impure = []string{
	"os", "net", "log", "syscall", "io/ioutil", "crypto/rand", "database/sql", "runtime/debug", "os/signal",
	"golang.org/x/sys", "golang.org/x/term", "golang.org/x/sync", "modernc.org",
}

// forbidden are the functions that pure code may not use of packages that it may import.
var forbidden = map[string][]string{
	"time":          {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"context":       {"AfterFunc", "WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"fmt":           {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// seeded are all that pure code may use of math/rand and math/rand/v2: types, and
// generators that are given their seed.
var seeded = []string{"Rand", "Source", "Source64", "New", "NewSource", "NewPCG", "PCG", "NewChaCha8", "ChaCha8", "NewZipf", "Zipf"}

// impurities returns what a file does that pure code may not, with positions.
func impurities(fset *token.FileSet, file *ast.File) []string {
	var found []string
	report := func(n ast.Node, format string, args ...any) {
		found = append(found, fset.Position(n.Pos()).String()+": "+fmt.Sprintf(format, args...))
	}
	names := importNames(file, report)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "starts a goroutine")
		case *ast.ChanType:
			report(n, "uses a channel")
		case *ast.SendStmt:
			report(n, "sends on a channel")
		case *ast.SelectStmt:
			report(n, "selects on channels")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n, "receives from a channel")
			}
		case *ast.SelectorExpr:
			// An identifier that is declared in the file has an object; a package's name has none.
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && names[x.Name] != "" {
				if path := names[x.Name]; !mayUse(path, n.Sel.Name) {
					report(n, "uses %s.%s", path, n.Sel.Name)
				}
			}
		}
		return true
	})
	return found
}

// importNames returns the imports' paths by the names they have in the file, and
// reports those that pure code may not have.
func importNames(file *ast.File, report func(ast.Node, string, ...any)) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(spec, "imports %s", spec.Path.Value)
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if path == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
		if slices.ContainsFunc(impure, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") }) {
			report(spec, "imports %s", path)
		}
		if name == "." {
			report(spec, "imports %s into its own names", path)
		}
	}
	return names
}

func mayUse(path, name string) bool {
	if path == "math/rand" || path == "math/rand/v2" {
		return slices.Contains(seeded, name)
	}
	return !slices.Contains(forbidden[path], name)
}
