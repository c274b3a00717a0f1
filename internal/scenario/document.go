package scenario

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"berth/internal/job"
)

// Document is a scenario as it was written: keys, values and where each stands.
type Document struct {
	name   string // of the file; empty where there is none
	dir    string // that files in it are relative to
	values map[string]any
	lines  map[string]int    // by path: "cluster.nodes", "rigid[0].swf"
	flags  map[string]string // by path: the flag that said it
}

// NewDocument returns one without keys.
func NewDocument() *Document {
	return &Document{values: map[string]any{}, lines: map[string]int{}, flags: map[string]string{}}
}

// ParseDocument parses TOML. name is what errors call the file, dir the folder that files
// named in it are relative to.
func ParseDocument(name, dir string, data []byte) (*Document, error) {
	d := NewDocument()
	d.name, d.dir = name, dir
	if err := toml.Unmarshal(data, &d.values); err != nil {
		return nil, syntaxError(name, err)
	}
	d.lines = keyLines(data)
	return d, nil
}

func syntaxError(name string, err error) error {
	e := &job.Error{Class: job.User, Code: job.CodeConfig, Where: name, What: strings.TrimPrefix(err.Error(), "toml: ")}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		e.Where = fmt.Sprintf("%s:%d", name, row)
	}
	return e
}

// Set sets a key of the top or, as "table.key", of a table, in place of what the document
// says. flag is what errors name.
func (d *Document) Set(key string, value any, flag string) {
	d.flags[key] = flag
	table, name, nested := strings.Cut(key, ".")
	if !nested {
		d.values[key] = value
		return
	}
	inner, ok := d.values[table].(map[string]any)
	if !ok {
		inner = map[string]any{}
		d.values[table] = inner
		d.flags[table] = flag
	}
	inner[name] = value
}

// Append adds a table to a list of tables; flags are what errors name, by key, "" for all
// other keys.
func (d *Document) Append(list string, values map[string]any, flags map[string]string) {
	all, ok := d.values[list].([]any)
	if _, there := d.values[list]; there && !ok {
		return // an error in the document, which is going to be told
	}
	path := list + "[" + strconv.Itoa(len(all)) + "]"
	d.values[list] = append(all, values)
	d.flags[path] = flags[""]
	for key := range values {
		flag, ok := flags[key]
		if !ok {
			flag = flags[""]
		}
		d.flags[path+"."+key] = flag
	}
}

// where returns file:line of a key, or the flag that said it; else of what it is in.
func (d *Document) where(path string) string {
	for {
		if flag, ok := d.flags[path]; ok {
			return flag
		}
		if line := d.lines[path]; line > 0 {
			return d.name + ":" + strconv.Itoa(line)
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return d.name
		}
		path = path[:cut]
	}
}

// keyLines returns the line, from 1, of every key, table and element of a list in a TOML
// document that has been found to be sound, by path.
func keyLines(data []byte) map[string]int {
	f := &lineFinder{lines: map[string]int{}, lists: map[string]int{}}
	for i, c := range data {
		if c == '\n' {
			f.ends = append(f.ends, i)
		}
	}
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table = f.key("", e, false) + "."
		case unstable.ArrayTable:
			table = f.key("", e, true) + "."
		case unstable.KeyValue:
			f.keyValue(table, e)
		}
	}
	return f.lines
}

type lineFinder struct {
	lines map[string]int
	lists map[string]int // how many tables lists of tables have so far
	ends  []int          // offsets of line ends
}

// key notes a dotted key with the tables that it runs through, and returns its path. The
// last element of a list of tables is meant by the list's name; next opens another one.
func (f *lineFinder) key(prefix string, e *unstable.Node, next bool) string {
	path, line := prefix, 0
	it := e.Key()
	for more := it.Next(); more; {
		if path != prefix {
			path += "."
		}
		path += string(it.Node().Data)
		line = f.line(it.Node())
		f.note(path, line)
		more = it.Next()
		if !more && next {
			f.lists[path]++
		}
		if n := f.lists[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
			f.note(path, line)
		}
	}
	return path
}

func (f *lineFinder) keyValue(prefix string, e *unstable.Node) {
	f.value(f.key(prefix, e, false), e.Value())
}

// value notes the keys of tables within a value.
func (f *lineFinder) value(path string, v *unstable.Node) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				f.keyValue(path+".", it.Node())
			}
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			n := it.Node()
			if n.Kind == unstable.Comment {
				continue
			}
			element := path + "[" + strconv.Itoa(i) + "]"
			f.value(element, n)
			f.note(element, f.first(n))
			i++
		}
	}
}

// first returns the line where an element of a list begins, 0 where that is not known.
func (f *lineFinder) first(n *unstable.Node) int {
	if n.Kind == unstable.InlineTable {
		for it := n.Children(); it.Next(); {
			for k := it.Node().Key(); k.Next(); {
				return f.line(k.Node())
			}
		}
		return 0
	}
	if n.Raw.Length == 0 {
		return 0
	}
	return f.line(n)
}

func (f *lineFinder) note(path string, line int) {
	if _, known := f.lines[path]; !known && line > 0 {
		f.lines[path] = line
	}
}

func (f *lineFinder) line(n *unstable.Node) int {
	return 1 + sort.SearchInts(f.ends, int(n.Raw.Offset))
}
