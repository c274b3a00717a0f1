package dashboard

import (
	"encoding/json"
	"maps"
	"slices"
)

// change is one difference between two documents. Path leads to a value through keys of objects (string) and indices of
// lists (int). The value is set to To. Without To the key is removed from its object, or the list is cut off before the
// index.
type change struct {
	Path []any
	To   any
	Cut  bool // To is not set
}

// MarshalJSON returns [path, value], or [path] for a removal.
func (c change) MarshalJSON() ([]byte, error) {
	if c.Cut {
		return json.Marshal([]any{c.Path})
	}
	return json.Marshal([]any{c.Path, c.To})
}

// tree returns v as encoding/json decodes its encoding: objects, lists, numbers, strings, booleans and nil.
func tree(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = json.Unmarshal(b, &out)
	return out, err
}

// diff returns the changes that turn document a into document b, in the order in which they are applied.
func diff(a, b any) []change {
	d := differ{}
	d.value(a, b)
	return d.changes
}

type differ struct {
	path    []any
	changes []change
}

func (d *differ) value(a, b any) {
	switch b := b.(type) {
	case map[string]any:
		if a, same := a.(map[string]any); same {
			d.object(a, b)
			return
		}
	case []any:
		if a, same := a.([]any); same {
			d.list(a, b)
			return
		}
	default:
		if leaf(a) && a == b {
			return
		}
	}
	d.changes = append(d.changes, change{Path: append([]any{}, d.path...), To: b})
}

// leaf reports whether a value is neither an object nor a list.
func leaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

func (d *differ) object(a, b map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, still := b[k]; !still {
			d.cut(k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if before, was := a[k]; was {
			d.at(k, before, b[k])
		} else {
			d.set(k, b[k])
		}
	}
}

func (d *differ) list(a, b []any) {
	for i := range min(len(a), len(b)) {
		d.at(i, a[i], b[i])
	}
	for i := len(a); i < len(b); i++ {
		d.set(i, b[i])
	}
	if len(b) < len(a) {
		d.cut(len(b))
	}
}

// at compares the values of a key.
func (d *differ) at(key, a, b any) {
	d.path = append(d.path, key)
	d.value(a, b)
	d.path = d.path[:len(d.path)-1]
}

func (d *differ) set(key, to any) {
	d.changes = append(d.changes, change{Path: append(slices.Clone(d.path), key), To: to})
}

func (d *differ) cut(key any) {
	d.changes = append(d.changes, change{Path: append(slices.Clone(d.path), key), Cut: true})
}
