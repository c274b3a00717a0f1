package tomlfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"berth/internal/core/job"
)

// Document is a TOML document: its keys and values, and where each of them was set.
type Document struct {
	name   string // of the file; empty if there is no file
	values map[string]any
	lines  map[string]int    // by path: "cluster.nodes", "rigid[0].swf"
	flags  map[string]string // the flag that set a key, by path
}

// New returns a document without keys.
func New() *Document {
	return &Document{values: map[string]any{}, lines: map[string]int{}, flags: map[string]string{}}
}

// Parse parses TOML. name is the name of the file in errors.
func Parse(name string, data []byte) (*Document, error) {
	d := New()
	d.name = name
	if err := toml.Unmarshal(data, &d.values); err != nil {
		return nil, syntaxError(name, err)
	}
	d.lines = keyLines(data)
	return d, nil
}

func syntaxError(name string, err error) error {
	e := job.ConfigError(name, strings.TrimPrefix(err.Error(), "toml: "), "")
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		e.Where = fmt.Sprintf("%s:%d", name, row)
	}
	return e
}

// Set sets a key of the top level or, as "table.key", of a table. It replaces the value in the
// document. flag is the name of the key's origin in errors.
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

// Append appends a table to a list of tables. flags contains the origins of keys for errors, by
// key; the key "" stands for all other keys.
func (d *Document) Append(list string, values map[string]any, flags map[string]string) {
	all, ok := d.values[list].([]any)
	if _, there := d.values[list]; there && !ok {
		return // the reader will report this error in the document
	}
	path := list + "[" + strconv.Itoa(len(all)) + "]"
	d.values[list] = append(all, values)
	d.flags[path] = flags[""]
	for _, key := range slices.Sorted(maps.Keys(values)) {
		flag, ok := flags[key]
		if !ok {
			flag = flags[""]
		}
		d.flags[path+"."+key] = flag
	}
}

// Where returns file:line of a key, or the flag that set it. For a path that was not set it returns
// those of the table that contains it.
func (d *Document) Where(path string) string {
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

// Has reports whether the file has a key or table.
func (d *Document) Has(path string) bool { return d.lines[path] > 0 }

// Flag returns the flag that set a key, or "" if the file sets it.
func (d *Document) Flag(path string) string { return d.flags[path] }

// Name returns the name of the file, or "" if there is none.
func (d *Document) Name() string { return d.name }
