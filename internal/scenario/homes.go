package scenario

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// home is a table, of a kind where there are several, and the keys that it may have.
type home struct {
	table string // "[cluster]", "[[rigid]]"
	kind  string // "swf"
	keys  []string
}

// kinds are the tables of which there are several kinds, told apart by a key: their names,
// and keys of theirs that are tables.
var kinds = []struct {
	list string
	keys map[string]any
}{
	{"rigid", map[string]any{"swf": "", "sacct": "", "lublin": map[string]any{}, "jobs": []any{map[string]any{}}}},
	{"elastic", map[string]any{"facebook": map[string]any{}, "swim": "", "maps": int64(1)}},
}

// homes returns all tables of all kinds. It asks what reads
// them, which notes the keys that it knows.
func homes() []home {
	d := NewDocument()
	d.values = map[string]any{
		"cluster": map[string]any{"speed": []any{map[string]any{}}}, "adaptor": []any{map[string]any{}}, "faults": map[string]any{},
	}
	for _, kind := range kinds {
		tables := []any{}
		for _, key := range slices.Sorted(maps.Keys(kind.keys)) {
			tables = append(tables, map[string]any{key: kind.keys[key]})
		}
		d.values[kind.list] = tables
	}
	r := &reader{doc: d}
	new(Scenario).read(r.root()) // what is missing in such a document does not matter
	// Tables are read to their ends before the ones that they are in.
	slices.SortStableFunc(r.seen, func(a, b home) int { return cmp.Compare(a.depth(), b.depth()) })
	return r.seen
}

func (h home) depth() int { return strings.Count(h.table, ".") + strings.Count(h.table, " of ") }

// belongs tells to what tables a key belongs, "" for none.
func belongs(key string) string {
	var tables []string
	of := map[string][]string{} // kinds, by table
	for _, h := range homes() {
		if !slices.Contains(h.keys, key) {
			continue
		}
		if !slices.Contains(tables, h.table) {
			tables = append(tables, h.table)
		}
		if h.kind != "" {
			of[h.table] = append(of[h.table], h.kind)
		}
	}
	for i, name := range tables {
		for _, kind := range kinds {
			if list := "[[" + kind.list + "]]"; name == list && len(of[list]) < len(kind.keys) {
				tables[i] += " with " + strings.Join(of[list], " or ")
			}
		}
	}
	return strings.Join(tables, ", or to ")
}

// home names the table for people.
func (t *table) home() home {
	path, isList := strings.CutSuffix(strings.TrimSuffix(t.path, "."), "]")
	if isList {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	list, key, inner := strings.Cut(path, "].")
	switch {
	case path == "":
		return home{table: "the top, before all tables", keys: t.asked}
	case inner:
		return home{table: key + " of [[" + list[:strings.IndexByte(list, '[')] + "]]", keys: t.asked}
	case !isList:
		return home{table: "[" + path + "]", keys: t.asked}
	}
	h := home{table: "[[" + path + "]]", keys: t.asked}
	for _, kind := range kinds {
		for key := range kind.keys {
			if kind.list == path && t.has(key) {
				h.kind = key
			}
		}
	}
	return h
}
