package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// site is a mutant and where it is in a tree.
type site struct {
	Mutant
	pkg        *pkg
	file       string
	line       int
	start, end int // the bytes of the file that text replaces
	text       string
}

// unit is a statement without its body, or a declaration outside functions.
type unit struct {
	line string
	nth  int
	used map[Kind]int
}

// finder collects the sites of one package.
type finder struct {
	pkg   *pkg
	path  string
	src   []byte
	file  *token.File
	count map[[2]string]int // statements so far, by function and text
	heads map[ast.Stmt]bool // statements in the header of a loop or a condition, which cannot be dropped alone
	sites []site
}

// findSites returns all places of the package where a mutant applies, in the order of its files.
func findSites(p *pkg) ([]site, error) {
	f := &finder{pkg: p, count: map[[2]string]int{}, heads: map[ast.Stmt]bool{}}
	for _, name := range p.GoFiles {
		if err := f.add(filepath.Join(p.Dir, name)); err != nil {
			return nil, err
		}
	}
	return f.sites, nil
}

func (f *finder) add(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	f.path, f.src, f.file = path, src, fset.File(file.Pos())
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if name := function(d); d.Body != nil && !isText(d.Name.Name) {
				ast.Walk(visitor{f, name, nil}, d.Body)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				ast.Walk(visitor{f, "", nil}, d)
			}
		}
	}
	return nil
}

// function returns a function's name, with its receiver's type before it.
func function(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	name := d.Name.Name
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok {
			name = id.Name + "." + d.Name.Name
		}
		return !ok
	})
	return name
}

// isText reports whether functions of that name only word a value for people.
func isText(name string) bool { return name == "String" || name == "Error" || name == "GoString" }

// visitor walks through a function; unit is the innermost statement.
type visitor struct {
	*finder
	function string
	unit     *unit
}

// Visit adds the sites of a node.
func (v visitor) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.DeclStmt, *ast.GenDecl:
		return v
	case *ast.CallExpr:
		if isReport(n) {
			return nil
		}
	case ast.Stmt:
		if s, ok := n.(*ast.ExprStmt); ok && isReport(s.X) {
			return nil
		}
		v.unit = v.newUnit(n)
		v.drops(n)
		v.markHeads(n)
	case *ast.ValueSpec:
		v.unit = v.newUnit(n)
	case *ast.TypeSpec:
		return nil
	}
	if v.unit != nil {
		v.operands(n)
	}
	return v
}

func (v visitor) newUnit(n ast.Node) *unit {
	u := &unit{line: v.words(n), used: map[Kind]int{}}
	key := [2]string{v.function, u.line}
	u.nth = v.count[key]
	v.count[key]++
	return u
}

// markHeads notes the statements in the node's header.
func (v visitor) markHeads(n ast.Stmt) {
	mark := func(s ast.Stmt) {
		if s != nil {
			v.heads[s] = true
		}
	}
	switch n := n.(type) {
	case *ast.ForStmt:
		mark(n.Init)
		mark(n.Post)
	case *ast.IfStmt:
		mark(n.Init)
	case *ast.SwitchStmt:
		mark(n.Init)
	case *ast.TypeSwitchStmt:
		mark(n.Init)
	case *ast.CommClause:
		mark(n.Comm)
	}
}

// drops adds the site where the statement, or its body, is left out.
func (v visitor) drops(n ast.Stmt) {
	if v.heads[n] {
		return
	}
	switch n := n.(type) {
	case *ast.IncDecStmt:
		v.site(Drop, n, "dropped", "")
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			v.site(Drop, n, "dropped", "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			v.site(Drop, n, "dropped", "")
		}
	case *ast.IfStmt:
		if len(n.Body.List) > 0 {
			v.site(Drop, n.Body, "body dropped", "{}")
		}
	}
}

var swapped = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "=="}

// operands adds the sites of operators and constants.
func (v visitor) operands(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok {
			v.at(Comparison, n.OpPos, n.Op.String(), to)
		}
	case *ast.BasicLit:
		if i, err := strconv.ParseInt(n.Value, 10, 64); n.Kind == token.INT && err == nil {
			v.at(Number, n.Pos(), n.Value, strconv.FormatInt(i+1, 10))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			v.at(Boolean, n.Pos(), "true", "false")
		case "false":
			v.at(Boolean, n.Pos(), "false", "true")
		}
	}
}

func (v visitor) site(k Kind, n ast.Node, change, text string) {
	v.addSite(k, v.file.Offset(n.Pos()), v.file.Offset(n.End()), change, text)
}

func (v visitor) at(k Kind, pos token.Pos, old, text string) {
	start := v.file.Offset(pos)
	v.addSite(k, start, start+len(old), old+" → "+text, text)
}

func (v visitor) addSite(k Kind, start, end int, change, text string) {
	m := Mutant{v.pkg.name(), v.function, v.unit.line, v.unit.nth, k, v.unit.used[k], change}
	v.unit.used[k]++
	v.sites = append(v.sites, site{m, v.pkg, v.path, v.file.Line(v.file.Pos(start)), start, end, text})
}

// isReport reports whether x is a call that only words something for people: an error, a line of a log, a panic.
func isReport(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		of := ""
		switch x := f.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		return slices.Contains([]string{"errors", "log", "slog", "logger"}, of) && f.Sel.Name != "As" && f.Sel.Name != "Is" ||
			strings.HasSuffix(f.Sel.Name, "Errorf")
	}
	return false
}

// words returns a node's source without its body, without comments and with a space only between words.
func (v visitor) words(n ast.Node) string {
	src := v.src[v.file.Offset(n.Pos()):v.file.Offset(v.header(n))]
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(src)), src, func(token.Position, string) {}, 0)
	var b strings.Builder
	word := false // the last token was a word
	comma := false
	for {
		_, t, text := s.Scan()
		if t == token.EOF {
			return b.String()
		}
		if t == token.SEMICOLON && text == "\n" {
			continue
		}
		if comma && t != token.RPAREN && t != token.RBRACE {
			b.WriteByte(',')
		}
		if comma = t == token.COMMA; comma {
			word = false
			continue
		}
		isWord := t.IsLiteral() || t.IsKeyword()
		if word && isWord {
			b.WriteByte(' ')
		}
		if text == "" {
			text = t.String()
		}
		b.WriteString(text)
		word = isWord
	}
}

// header returns where the part of the node ends that is before its first body.
func (v visitor) header(n ast.Node) token.Pos {
	end := n.End()
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.BlockStmt:
			end = min(end, c.Lbrace)
		case *ast.CaseClause:
			end = min(end, c.Colon)
		case *ast.CommClause:
			end = min(end, c.Colon)
		}
		return true
	})
	return end
}
