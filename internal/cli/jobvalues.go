package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"

	"berth/internal/job"
)

// join returns the gathered errors as one, nil when there are none.
func (c problems) join() error { return errors.Join(c...) }

// sortedKeys returns the keys of a map in order, so that nothing depends on the map's.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// scalar writes a string, number or boolean as a flag's value.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// scalars takes one value or a list of values.
func scalars(where string, value any) ([]string, error) {
	return stringList(where, value, "a value or a list of values")
}

// stringList takes one value or a list of values; want says in an error what was wanted.
func stringList(where string, value any, want string) ([]string, error) {
	if s, ok := scalar(value); ok {
		return []string{s}, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, wrongType(where, value, want)
	}
	values := make([]string, len(list))
	for i, item := range list {
		if values[i], ok = scalar(item); !ok {
			return nil, wrongType(where, item, want)
		}
	}
	return values, nil
}

func wrongType(where string, value any, want string) error {
	return job.ConfigError(where, "this is "+tomlType(value), "write "+want)
}

// tomlType names a value's type for people.
func tomlType(value any) string {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "an empty string"
		}
		return "the string " + strconv.Quote(v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// keyLines returns the line, from 1, of every key and table of a TOML document that
// has been found to be sound. Keys are written with dots: "bag.retries".
func keyLines(data []byte) map[string]int {
	k := lineFinder{data: data, lines: map[string]int{}, line: 1}
	k.parser.Reset(data)
	table := ""
	for k.parser.NextExpression() {
		e := k.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = k.keys("", e) + "."
		case unstable.KeyValue:
			k.keyValue(table, e)
		}
	}
	return k.lines
}

// lineFinder notes the lines of keys, which come in the order of the document.
type lineFinder struct {
	parser unstable.Parser
	data   []byte
	lines  map[string]int
	offset int // up to which line ends are counted
	line   int
}

// keys notes a dotted key and the tables it runs through, and returns it whole.
func (k *lineFinder) keys(prefix string, e *unstable.Node) string {
	name := prefix
	for it := e.Key(); it.Next(); {
		if name != prefix {
			name += "."
		}
		name += string(it.Node().Data)
		if _, known := k.lines[name]; !known {
			k.lines[name] = k.lineOf(int(it.Node().Raw.Offset))
		}
	}
	return name
}

// keyValue notes a key and those of an inline table behind it.
func (k *lineFinder) keyValue(prefix string, e *unstable.Node) {
	name := k.keys(prefix, e)
	value := e.Value()
	if value.Kind != unstable.InlineTable {
		return
	}
	for it := value.Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			k.keyValue(name+".", it.Node())
		}
	}
}

// lineOf returns the line of an offset that is not before the one asked for last.
func (k *lineFinder) lineOf(offset int) int {
	for ; k.offset < offset && k.offset < len(k.data); k.offset++ {
		if k.data[k.offset] == '\n' {
			k.line++
		}
	}
	return k.line
}
