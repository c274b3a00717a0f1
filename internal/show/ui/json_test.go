package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

// broken takes no bytes, as a pipe that nobody reads any more.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

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
		if err := errors.Join(JSONList(&got, whole.object, "list", slices.Values(list)), JSON(&want, whole)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || !json.Valid(got.Bytes()) {
			t.Errorf("%q is written as %s, not as %s", list, &got, &want)
		}
	}
	if JSONList(broken{}, object{}, "list", slices.Values([]string{"x"})) == nil {
		t.Error("what cannot be written is no error")
	}
}
