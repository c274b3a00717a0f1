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

// diff returns the changes that turn document a into document b, in the order in which they are applied. path leads to both.
func diff(a, b any, path ...any) (changes []change) {
	if path == nil {
		path = make([]any, 0, 8) // for all that are below
	}
	below := func(key any) []any { return append(slices.Clone(path), key) }
	switch b := b.(type) {
	case map[string]any:
		a, same := a.(map[string]any)
		if !same {
			break
		}
		for _, k := range slices.Sorted(maps.Keys(a)) {
			if _, still := b[k]; !still {
				changes = append(changes, change{Path: below(k), Cut: true})
			}
		}
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if before, was := a[k]; was {
				changes = append(changes, diff(before, b[k], append(path, k)...)...)
			} else {
				changes = append(changes, change{Path: below(k), To: b[k]})
			}
		}
		return changes
	case []any:
		a, same := a.([]any)
		if !same {
			break
		}
		for i := range b {
			if i < len(a) {
				changes = append(changes, diff(a[i], b[i], append(path, i)...)...)
			} else {
				changes = append(changes, change{Path: below(i), To: b[i]})
			}
		}
		if len(b) < len(a) {
			changes = append(changes, change{Path: below(len(b)), Cut: true})
		}
		return changes
	default:
		if a == b {
			return nil
		}
	}
	return []change{{Path: append([]any{}, path...), To: b}}
}
