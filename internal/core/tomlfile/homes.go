package tomlfile

import (
	"cmp"
	"slices"
	"strings"
)

// Home is a table and the keys that it may have.
type Home struct {
	Table string // its name in messages: "[cluster]", "jobs of [[rigid]]"
	Kind  string // as set by Table.SetKind; empty if all tables of that name have the same keys
	Keys  []string
}

// Homes returns all tables that a document may have. sample is a document with one table of
// each name and kind; read asks for their keys.
func Homes(sample string, read func(*Table)) []Home {
	d, err := Parse("sample", []byte(sample))
	if err != nil {
		panic(err) // the sample is part of the program
	}
	r := NewReader(d, nil)
	read(r.Root()) // errors do not matter
	// Inner tables are done before the tables that contain them.
	slices.SortStableFunc(r.seen, func(a, b Home) int { return cmp.Compare(a.depth(), b.depth()) })
	return r.seen
}

func (h Home) depth() int { return strings.Count(h.Table, ".") + strings.Count(h.Table, " of ") }

// belongs returns the names of the tables to which a key belongs, or "".
func (r *Reader) belongs(key string) string {
	if r.homes == nil {
		return ""
	}
	var tables []string
	of, all := map[string][]string{}, map[string]int{} // kinds that have the key, and all, by table
	for _, h := range r.homes() {
		if h.Kind != "" {
			all[h.Table]++
		}
		if !slices.Contains(h.Keys, key) {
			continue
		}
		if !slices.Contains(tables, h.Table) {
			tables = append(tables, h.Table)
		}
		if h.Kind != "" {
			of[h.Table] = append(of[h.Table], h.Kind)
		}
	}
	for i, name := range tables {
		if len(of[name]) < all[name] {
			tables[i] += " with " + strings.Join(of[name], " or ")
		}
	}
	return strings.Join(tables, ", or to ")
}

// home returns the table's name for messages, its kind and its keys.
func (t *Table) home() Home {
	path, isList := strings.CutSuffix(strings.TrimSuffix(t.path, "."), "]")
	if isList {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	list, key, inner := strings.Cut(path, "].")
	name := "[[" + path + "]]"
	switch {
	case path == "":
		name = "the top, before all tables"
	case inner:
		name = key + " of [[" + list[:strings.IndexByte(list, '[')] + "]]"
	case !isList:
		name = "[" + path + "]"
	}
	return Home{name, t.kind, t.asked}
}
