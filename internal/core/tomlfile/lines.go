package tomlfile

import (
	"sort"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyLines returns the line, from 1, of every key, table and list element of a valid TOML
// document, by path.
//
// The strict mode of go-toml does not suffice: it reports keys that a struct does not have, and most errors here are
// about keys that it does have. It also says "rigid.nodes" for a key of rigid.jobs = [{nodes = 2}], and reports no key
// within an unknown table.
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
	lists map[string]int // number of elements so far, by list of tables
	ends  []int          // offsets of line ends
}

// key stores the lines of a dotted key and of the tables in its path, and returns the path. The
// name of a list of tables stands for its last element; with next it opens another element.
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

// value stores the lines of keys in tables within a value.
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

// first returns the line where an element of a list begins, or 0 if it is not known.
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
