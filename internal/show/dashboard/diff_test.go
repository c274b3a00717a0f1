package dashboard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// applyTo does what assets/changes.js does.
func applyTo(t *rapid.T, document any, changes []change) any {
	b, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]any
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		document = put(document, c[0].([]any), c[1:])
	}
	return document
}

// put returns the value with what is at the path replaced by to, or taken out where that is empty.
func put(value any, path, to []any) any {
	if len(path) == 0 {
		return to[0]
	}
	if key, is := path[0].(string); is {
		object := value.(map[string]any)
		if len(path) == 1 && len(to) == 0 {
			delete(object, key)
		} else {
			object[key] = put(object[key], path[1:], to)
		}
		return object
	}
	list, i := value.([]any), int(path[0].(float64))
	switch {
	case len(path) == 1 && len(to) == 0:
		return list[:i]
	case i == len(list):
		list = append(list, nil)
	}
	list[i] = put(list[i], path[1:], to)
	return list
}

// values draws any value that JSON can hold, with few keys so that documents have much in common.
func values() *rapid.Generator[any] {
	leaves := rapid.OneOf(
		rapid.Just[any](nil), rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "truth") }),
		rapid.Custom(func(t *rapid.T) any { return float64(rapid.IntRange(0, 3).Draw(t, "number")) }),
		rapid.Custom(func(t *rapid.T) any { return rapid.SampledFrom([]string{"", "a", "b/c"}).Draw(t, "text") }),
	)
	all := leaves
	for range 3 {
		below := all
		all = rapid.OneOf(leaves,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(below, 0, 4).Draw(t, "list") }),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.SampledFrom([]string{"", "a", "b", "c"}), below, 0, 3).Draw(t, "object")
			}))
	}
	return all
}

// TestChangesMakeTheWhole: a page that has one document and makes the changes has the next one.
func TestChangesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document, before := any(nil), any(nil)
		for i := range 4 {
			next, err := tree(values().Draw(t, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			changes := diff(before, next)
			if len(changes) == 0 && !reflect.DeepEqual(before, next) {
				t.Fatalf("nothing is told of the way from %v to %v", before, next)
			}
			if document = applyTo(t, document, changes); !reflect.DeepEqual(document, next) {
				t.Fatalf("%v is made, want %v", document, next)
			}
			before = next
		}
	})
}

// TestChangesAreFew: what is the same is not told again.
func TestChangesAreFew(t *testing.T) {
	a := map[string]any{"rows": []any{"1", "2"}, "same": map[string]any{"x": 1.0}, "old": true}
	b := map[string]any{"rows": []any{"1", "3", "4"}, "same": map[string]any{"x": 1.0}}
	got, err := json.Marshal(diff(a, b))
	if want := `[[["old"]],[["rows",1],"3"],[["rows",2],"4"]]`; err != nil || string(got) != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
}
