package arch

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

// writesItself has the files of commands that write otherwise than by package ui, with the reason.
var writesItself = map[string]string{
	"helpgroups.go":    "help, which has no names of others",
	"cmd_mapreduce.go": "help, which has no names of others",
	"cmd_trace.go":     "it writes to a hash",
	"cmd_bag.go":       "--dry-run prints commands as they are run",
	"cmd_hadoop.go":    "what a shell evaluates",
	"cmd_hq.go":        "what a shell evaluates",
	"man.go":           "pages made of help",
}

// TestCommandsPrintByOneDoor: names of tasks, files and hosts may have control characters, which a terminal obeys. Package ui shows them as text, so commands print
// by way of it.
func TestCommandsPrintByOneDoor(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg != "command" && !strings.HasPrefix(s.pkg, "command/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := call.X.(*ast.Ident)
			at := fset.Position(n.Pos())
			if ok && (pkg.Name == "fmt" && (strings.HasPrefix(call.Sel.Name, "Fprint") || strings.HasPrefix(call.Sel.Name, "Print")) ||
				pkg.Name == "io" && call.Sel.Name == "WriteString") && writesItself[filepath.Base(at.Filename)] == "" {
				t.Errorf("%s: %s.%s; print by ui.Say or another function of package ui", at, pkg.Name, call.Sel.Name)
			}
			return true
		})
	}
}
