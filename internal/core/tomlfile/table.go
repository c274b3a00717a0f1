package tomlfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// Table reads the keys of a table of a document. A key that was never asked for is unknown.
// If a value is wrong, the methods add an error to the reader and return the zero value.
type Table struct {
	r      *Reader
	path   string // "", or with a dot at its end
	kind   string
	values map[string]any
	asked  []string
}

// Reader reads a document and collects all errors in it.
type Reader struct {
	doc   *Document
	homes func() []Home
	errs  []error

	unknown int    // number of unknown keys
	seen    []Home // the tables read so far
}

// NewReader returns a reader of a document. homes, if not nil, returns all possible tables, so
// that errors can say where a key belongs.
func NewReader(d *Document, homes func() []Home) *Reader { return &Reader{doc: d, homes: homes} }

// Bad adds an error: what is wrong at a path, and what to do about it.
func (r *Reader) Bad(path, what, do string) {
	r.Add(job.ConfigError(r.doc.Where(path), what, do))
}

// Add adds an error.
func (r *Reader) Add(err error) { r.errs = append(r.errs, err) }

// Unknown reports whether there are unknown keys. One of them may be a misspelt key that seems
// to be missing.
func (r *Reader) Unknown() bool { return r.unknown > 0 }

// Err returns all errors joined, in the order of their lines, or nil if there are none.
func (r *Reader) Err() error {
	slices.SortStableFunc(r.errs, func(a, b error) int { return cmp.Compare(r.line(a), r.line(b)) })
	return errors.Join(r.errs...)
}

// line returns the line that an error names, or 0.
func (r *Reader) line(err error) (line int) {
	var e *job.Error
	if errors.As(err, &e) {
		_, _ = fmt.Sscanf(strings.TrimPrefix(e.Where, r.doc.name), ":%d", &line)
	}
	return line
}

// Root returns the top-level table.
func (r *Reader) Root() *Table { return &Table{r: r, values: r.doc.values} }

// Path returns the path of a key of the table.
func (t *Table) Path(key string) string { return t.path + key }

// Where returns where a key was set: file:line, or a flag.
func (t *Table) Where(key string) string { return t.r.doc.Where(t.path + key) }

// Keys returns the keys of the table in the order of their lines.
func (t *Table) Keys() []string {
	line := func(key string) int { return t.r.doc.lines[t.path+key] }
	return slices.SortedFunc(maps.Keys(t.values), func(a, b string) int {
		return cmp.Or(line(a)-line(b), strings.Compare(a, b))
	})
}

// Expect adds keys that the table may have.
func (t *Table) Expect(keys ...string) { t.asked = append(t.asked, keys...) }

// SetKind sets the kind of the table, for tables of the same name with different keys.
func (t *Table) SetKind(kind string) { t.kind = kind }

// Get returns the value of a key, and whether the table has it.
func (t *Table) Get(key string) (any, bool) {
	if !slices.Contains(t.asked, key) {
		t.asked = append(t.asked, key)
	}
	v, ok := t.values[key]
	return v, ok
}

// Has reports whether the table has a key.
func (t *Table) Has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// Bad adds an error: what is wrong with a key, and what to do about it.
func (t *Table) Bad(key, what, do string) { t.r.Bad(t.path+key, what, do) }

// Need reports a key that is missing, at another.
func (t *Table) Need(key, at, do string) {
	if !t.Has(key) {
		t.Bad(at, key+" is missing", do)
	}
}

// Add adds an error that says itself where it arose.
func (t *Table) Add(err error) { t.r.Add(err) }

// Wrong adds the error for a value of the wrong type.
func (t *Table) Wrong(key string, v any, want string) {
	t.Bad(key, key+" is "+TypeName(v), "write "+want)
}

// Done adds an error for each key that was never asked for, and says where the key belongs.
func (t *Table) Done() {
	t.r.seen = append(t.r.seen, t.home())
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(t.asked, key) {
			continue
		}
		do := "known: " + strings.Join(t.asked, ", ")
		near, where := parse.Nearest(key, t.asked), t.r.belongs(key)
		switch {
		case near != "" && where != "":
			do = fmt.Sprintf("did you mean %q? %s belongs to %s", near, key, where)
		case near != "":
			do = fmt.Sprintf("did you mean %q?", near)
		case where != "":
			do = "it belongs to " + where
		}
		t.Bad(key, fmt.Sprintf("unknown key %q", key), do)
		t.r.unknown++
	}
}

// Value returns the value of a key, and false if the table does not have the key or if the value has another
// type. It adds an error for another type; want describes the wanted type.
func Value[T any](t *Table, key, want string) (value T, ok bool) {
	v, there := t.Get(key)
	if value, ok = v.(T); there && !ok {
		t.Wrong(key, v, want)
	}
	return value, ok
}

// Sub returns a table within this one, or nil.
func (t *Table) Sub(key string) *Table {
	if values, ok := Value[map[string]any](t, key, "a table"); ok {
		return &Table{r: t.r, path: t.path + key + ".", values: values}
	}
	return nil
}

// List returns the tables of a list of tables.
func (t *Table) List(key string) []*Table {
	items, _ := Value[[]any](t, key, "a list of tables, [["+key+"]]")
	var tables []*Table
	for i, item := range items {
		element := fmt.Sprintf("%s[%d]", key, i)
		if values, ok := item.(map[string]any); ok {
			tables = append(tables, &Table{r: t.r, path: t.path + element + ".", values: values})
		} else {
			t.Wrong(element, item, "a table")
		}
	}
	return tables
}

// Text returns a string, or otherwise if the key is missing.
func (t *Table) Text(key, otherwise string) string {
	s, ok := Value[string](t, key, "a string")
	if ok && s == "" {
		t.Wrong(key, s, "a string")
	}
	return cmp.Or(s, otherwise)
}

// Word returns a string that must be one of words, or the first of them if the key is missing.
func (t *Table) Word(key string, words ...string) string {
	s := t.Text(key, words[0])
	if !slices.Contains(words, s) {
		last := len(words) - 1
		t.Bad(key, fmt.Sprintf("%s cannot be %q", key, s), parse.DidYouMean(s, words, "use "+strings.Join(words[:last], ", ")+" or "+words[last]))
		return words[0]
	}
	return s
}

// Flag returns a boolean, or otherwise if the key is missing.
func (t *Table) Flag(key string, otherwise bool) bool {
	if b, ok := Value[bool](t, key, "true or false"); ok {
		return b
	}
	return otherwise
}

// Count returns a whole number from low to high, or otherwise if the key is missing.
func (t *Table) Count(key string, low, high, otherwise int64) int64 {
	n, ok := Value[int64](t, key, "a whole number")
	switch {
	case !ok:
		return otherwise
	case n < low || n > high:
		t.Bad(key, fmt.Sprintf("%s is %d, which is not from %d to %d", key, n, low, high), "")
		return otherwise
	}
	return n
}

// Number returns a number from low to high, both included, or otherwise if the key is missing.
func (t *Table) Number(key string, low, high, otherwise float64) float64 {
	if v, ok := t.Get(key); ok {
		return t.Checked(key, v, low, high, otherwise)
	}
	return otherwise
}

// Checked returns the value v of a key as a number from low to high, or otherwise if it is not one.
func (t *Table) Checked(key string, v any, low, high, otherwise float64) float64 {
	x, ok := v.(float64)
	if n, whole := v.(int64); whole {
		x, ok = float64(n), true
	}
	switch {
	case !ok:
		t.Wrong(key, v, "a number")
		return otherwise
	case !(x >= low && x <= high):
		t.Bad(key, fmt.Sprintf("%s is %g, which is not from %g to %g", key, x, low, high), "")
		return otherwise
	}
	return x
}

// Size returns a number of bytes, which is written as a number or as in "25M", or 0 if the key is missing.
func (t *Table) Size(key string) float64 {
	v, there := t.Get(key)
	text, isText := v.(string)
	switch {
	case !there:
		return 0
	case !isText:
		return t.Checked(key, v, 0, 1e18, 0)
	}
	n, err := parse.Size(t.Where(key), text)
	if err != nil {
		t.Add(err)
	}
	return float64(n)
}

// TypeName describes the type of a value for error messages.
func TypeName(value any) string {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "an empty string"
		}
		return fmt.Sprintf("the string %q", v)
	case int64, bool:
		return fmt.Sprint(v)
	case float64:
		if math.IsNaN(v) {
			return "not a number"
		}
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}
