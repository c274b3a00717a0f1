package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
)

// broken takes no bytes, as a pipe that nobody reads any more.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

// elements is a list without an error.
func elements(list []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, x := range list {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// TestJSONList: an object whose last list is written one element at a time is what it is when it is written whole.
func TestJSONList(t *testing.T) {
	type object struct {
		Name string `json:"name"`
	}
	for _, list := range [][]string{{}, {"a<b"}, {"a", "\n", "}"}} {
		var got, want bytes.Buffer
		whole := struct {
			object
			List []string `json:"list"`
		}{object{"}"}, list}
		if err := errors.Join(JSONList(&got, whole.object, "list", elements(list)), JSON(&want, whole)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || !json.Valid(got.Bytes()) {
			t.Errorf("%q is written as %s, not as %s", list, &got, &want)
		}
	}
	if JSONList(broken{}, object{}, "list", elements([]string{"x"})) == nil {
		t.Error("what cannot be written is no error")
	}
}

// TestJSONListAsItComes: what is before the list is written before its first element is asked for, and of the elements little is held back. An error of
// the list is returned, and ends the output.
func TestJSONListAsItComes(t *testing.T) {
	const n, each, most = 1000, 1000, 70_000
	var out bytes.Buffer
	bad := errors.New("bad")
	err := JSONList(&out, map[string]int{"a": 1}, "list", func(yield func(string, error) bool) {
		if out.String() != `{"a":1,"list":[` {
			t.Errorf("before the first element %q is written", &out)
		}
		for i := range n {
			if held := i*(each+3) - out.Len(); held > most {
				t.Fatalf("%d bytes are held back", held)
			}
			yield(strings.Repeat("x", each), nil)
		}
		yield("", bad)
	})
	if !errors.Is(err, bad) || bytes.HasSuffix(out.Bytes(), []byte("}\n")) {
		t.Errorf("a list with an error is written whole, %v", err)
	}
}
