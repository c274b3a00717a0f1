package arch

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// field is a key of an object that is printed.
type field struct {
	key, meaning string
	typ          reflect.Type
	optional     bool
	nullable     bool
}

// fieldsOf returns the keys of a type, with those of embedded ones but less.
func fieldsOf(t *testing.T, typ, less reflect.Type) (list []field) {
	t.Helper()
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			if f.Type != less {
				list = append(list, fieldsOf(t, f.Type, less)...)
			}
			continue
		case key == "-" || !f.IsExported():
			continue
		}
		one := field{key: key, typ: f.Type, meaning: meaningsOf(t, typ.PkgPath())[typ.Name()+"."+f.Name], optional: strings.HasPrefix(options, "omit")}
		one.nullable = strings.Contains(one.meaning, "null:")
		if f.Type.Kind() == reflect.Pointer {
			one.typ = f.Type.Elem()
			if !one.optional && !one.nullable {
				t.Errorf("%v.%s can be null: what is behind it should say what that means", typ, f.Name)
			}
		}
		if !one.optional && strings.Contains(one.meaning, "may be absent") {
			t.Errorf("%v.%s is never absent, in spite of what is behind it", typ, f.Name)
		}
		list = append(list, one)
	}
	return list
}

// objectOf returns the type of an object with keys of its own, or of the objects of a list of such, and the list's mark in paths.
func objectOf(t reflect.Type) (object reflect.Type, mark string) {
	if t.Kind() == reflect.Slice {
		t, mark = t.Elem(), "[]"
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil, ""
	}
	return t, mark
}

// nameOf returns the word of the pages for a type.
func nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "time"
	}
	switch name := jsonType(t); name {
	case "array":
		return "list"
	default:
		return name
	}
}

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint16, reflect.Uint64:
		return "integer"
	case reflect.Uint8: // a constant, printed by its name where it has one
		if t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return "string"
		}
		return "integer"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		panic(fmt.Sprintf("type %v has no name in JSON", t))
	}
}

// node is an object of JSON Schema.
type node map[string]any

// schemaOf returns a schema with a definition for each command, and for each type that they print.
func schemaOf(t *testing.T, printed map[string][]any) string {
	t.Helper()
	s := schema{t: t, defs: map[string]string{}}
	for name, types := range printed {
		var some []node
		for _, v := range types {
			some = append(some, s.valueOf(reflect.TypeOf(v)))
		}
		s.defs["berth "+name] = oneLine(node{"anyOf": some})
	}
	var b strings.Builder
	b.WriteString("{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n\"title\": \"What the commands of berth print with --json: each has a definition\",\n\"$defs\": {")
	between := "\n"
	for _, name := range slices.Sorted(maps.Keys(s.defs)) {
		fmt.Fprintf(&b, "%s%q: %s", between, name, s.defs[name])
		between = ",\n"
	}
	b.WriteString("\n}}\n")
	return b.String()
}

type schema struct {
	t    *testing.T
	defs map[string]string
}

// valueOf returns the schema of a type's values.
func (s schema) valueOf(t reflect.Type) node {
	switch object, _ := objectOf(t); {
	case t == reflect.TypeFor[time.Time]():
		return node{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Slice:
		return node{"type": "array", "items": s.valueOf(t.Elem())}
	case t.Kind() == reflect.Map:
		return node{"type": "object", "additionalProperties": s.valueOf(t.Elem())}
	case object != nil:
		return node{"$ref": "#/$defs/" + s.define(object)}
	default:
		return node{"type": jsonType(t)}
	}
}

// define adds the definition of an object and returns its name.
func (s schema) define(t reflect.Type) string {
	name := t.String()
	if _, known := s.defs[name]; known {
		return name
	}
	s.defs[name] = "" // it may contain itself
	required := []string{}
	var properties []string
	for _, f := range fieldsOf(s.t, t, nil) {
		v := s.valueOf(f.typ)
		if f.nullable {
			v = node{"anyOf": []node{v, {"type": "null"}}}
		}
		if f.meaning != "" {
			v["description"] = f.meaning
		}
		if !f.optional {
			required = append(required, f.key)
		}
		properties = append(properties, fmt.Sprintf("  %q: %s", f.key, oneLine(v)))
	}
	s.defs[name] = fmt.Sprintf("{\"type\": \"object\", \"description\": %s,\n \"required\": %s,\n \"properties\": {\n%s\n }}",
		oneLine(meaningsOf(s.t, t.PkgPath())[t.Name()]), oneLine(required), strings.Join(properties, ",\n"))
	return name
}

func oneLine(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

var meanings = map[string]map[string]string{}

// meaningsOf returns what a package's source says of its types, and behind their fields: TYPE and TYPE.FIELD.
func meaningsOf(t *testing.T, pkg string) map[string]string {
	t.Helper()
	if known, ok := meanings[pkg]; ok {
		return known
	}
	said := map[string]string{}
	meanings[pkg] = said
	files, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(pkg, "berth/"), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the source of %s: %v, %v", pkg, files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if of, ok := spec.(*ast.TypeSpec); ok {
						said[of.Name.Name] = joined(g.Doc)
						sayFields(said, of)
					}
				}
			}
		}
	}
	return said
}

func sayFields(said map[string]string, of *ast.TypeSpec) {
	if s, ok := of.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				said[of.Name.Name+"."+name.Name] = joined(f.Comment)
			}
		}
	}
}

func joined(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
