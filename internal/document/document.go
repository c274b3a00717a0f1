package document

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"berth/internal/job"
)

// Document is what was written: keys, values and where each stands.
type Document struct {
	name   string // of the file; empty where there is none
	values map[string]any
	lines  map[string]int    // by path: "cluster.nodes", "rigid[0].swf"
	flags  map[string]string // by path: the flag that said it
}

// New returns one without keys.
func New() *Document {
	return &Document{values: map[string]any{}, lines: map[string]int{}, flags: map[string]string{}}
}

// Parse parses TOML. name is what errors call the file.
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
	for _, key := range slices.Sorted(maps.Keys(values)) {
		flag, ok := flags[key]
		if !ok {
			flag = flags[""]
		}
		d.flags[path+"."+key] = flag
	}
}

// Where returns file:line of a key, or the flag that said it; else of what it is in.
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

// Flag returns the flag that said a key, "" where the file says it.
func (d *Document) Flag(path string) string { return d.flags[path] }

// Name returns what the file is called; empty where there is none.
func (d *Document) Name() string { return d.name }
