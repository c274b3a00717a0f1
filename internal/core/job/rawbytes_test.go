package job

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestSpecKeepsBytes checks that JSON keeps a spec unchanged, whatever bytes it contains.
func TestSpecKeepsBytes(t *testing.T) {
	raw := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "ü", "\xff", "\x80", "\xf4\x8f", "\ufffd", "\U0010f7ff", "\U0010f77f", "{}", "\"", "\x00"})).Draw(t, "parts")
		s := ""
		for _, p := range parts {
			s += p
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		one := func() string { return raw.Draw(t, "string") }
		want := New(Bag, one())
		want.Bag.Command, want.Bag.Env, want.Bag.Stdout = []string{one(), one()}, []string{one()}, one()
		if rapid.Bool().Draw(t, "mapreduce") {
			want = New(MapReduce, one())
			want.MapReduce.Conf = map[string]string{one(): one()}
			want.MapReduce.Files = []ShipFile{{Path: one(), Name: one()}}
			want.MapReduce.Combiner = &Program{Args: []string{one()}}
		}
		before := mapStrings(reflect.ValueOf(want), func(s string) string { return s }).Interface()
		b, err := json.Marshal(want)
		if err != nil || !utf8.Valid(b) {
			t.Fatalf("%q, %v", b, err)
		}
		if !reflect.DeepEqual(before, any(want)) {
			t.Fatalf("the spec itself was changed to %+v", want)
		}
		var got Spec
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&got, want) {
			t.Fatalf("got %+v\nwant %+v", got, *want)
		}
	})
}

// TestTextStaysReadable checks that valid UTF-8 is unchanged in JSON.
func TestTextStaysReadable(t *testing.T) {
	for _, s := range []string{"", "plain", "ünï ✓", "\ufffd", "\U0010f77f"} {
		if got := keepBytes(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
