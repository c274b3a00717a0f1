package arch

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declarations returns what the packages declare: "engine.New", "engine.Engine", "engine.Engine.Step". A package is
// named by the last part of its path.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, s := range sources(t) {
		pkg := path.Base(s.pkg)
		found[pkg] = true
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				found[pkg+"."+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for _, name := range namesOf(spec) {
						found[pkg+"."+name] = true
					}
				}
			}
		}
	}
	return found
}

// namesOf returns the names that a declaration of types, variables or constants declares, with the methods of interfaces.
func namesOf(spec ast.Spec) []string {
	var names []string
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			names = append(names, name.Name)
		}
	case *ast.TypeSpec:
		names = append(names, spec.Name.Name)
		if in, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range in.Methods.List {
				for _, name := range m.Names {
					names = append(names, spec.Name.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}

// receiver returns the type of a method with a dot behind it, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if g, ok := typ.(*ast.IndexExpr); ok {
		typ = g.X
	}
	return typ.(*ast.Ident).Name + "."
}

// tourName matches a function, method or type in a page: `engine.Engine.Step`.
var tourName = regexp.MustCompile("`([a-z0-9]+)((?:\\.[A-Za-z]+){1,2})`")

// TestTour: each function, method and type that docs/tour.md names exists.
func TestTour(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := declarations(t)
	names := 0
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		for _, m := range tourName.FindAllStringSubmatch(line, -1) {
			if !declared[m[1]] {
				continue // a file, such as `plan.json`
			}
			names++
			if !declared[m[1]+m[2]] {
				t.Errorf("docs/tour.md:%d names %s%s, which does not exist", number, m[1], m[2])
			}
		}
	}
	if names < 50 {
		t.Errorf("docs/tour.md names %d functions; it should follow a job by its functions", names)
	}
}
