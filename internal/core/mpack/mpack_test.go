package mpack

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

type inner struct {
	N int    `msgpack:"n"`
	S string `msgpack:"s,omitempty"`
}

type outer struct {
	ID    string           `msgpack:"id"`
	List  []inner          `msgpack:"l,omitempty"`
	Data  []byte           `msgpack:"d,omitempty"`
	Count map[string]int64 `msgpack:"c,omitempty"`
	F     float64          `msgpack:"f,omitempty"`
	Yes   bool             `msgpack:"y,omitempty"`
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := outer{
			ID:    rapid.String().Draw(t, "id"),
			List:  rapid.SliceOfN(rapid.Custom(drawInner), 0, 40).Draw(t, "list"),
			Data:  rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
			Count: rapid.MapOf(rapid.String(), rapid.Int64()).Draw(t, "count"),
			F:     rapid.Float64().Draw(t, "f"),
			Yes:   rapid.Bool().Draw(t, "yes"),
		}
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "prefix")
		buf, err := Append(bytes.Clone(prefix), &v)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(buf, prefix) {
			t.Fatalf("Append changed what was there")
		}
		enc := buf[len(prefix):]
		var got outer
		if err := Decode(enc, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(normal(v), normal(got)) {
			t.Fatalf("got %+v, want %+v", got, v)
		}
		for i := range enc {
			if err := Check(enc[:i]); !errors.Is(err, ErrTruncated) {
				t.Fatalf("prefix of %d bytes of %d: %v", i, len(enc), err)
			}
		}
		if err := Check(append(enc, 0)); !errors.Is(err, ErrTrailing) {
			t.Fatalf("with a byte more: %v", err)
		}
	})
}

func drawInner(t *rapid.T) inner {
	return inner{N: rapid.Int().Draw(t, "n"), S: rapid.StringN(0, 70, -1).Draw(t, "s")}
}

// normal makes empty and nil slices and maps the same.
func normal(v outer) outer {
	if len(v.List) == 0 {
		v.List = nil
	}
	if len(v.Data) == 0 {
		v.Data = nil
	}
	if len(v.Count) == 0 {
		v.Count = nil
	}
	return v
}

func TestCheckTakesWhatTheLibraryWrites(t *testing.T) {
	values := []any{
		nil, true, false, 0, -1, 127, 128, -33, 1 << 20, -1 << 40, uint64(1) << 63, 1.5, float32(2),
		"", "a", strings.Repeat("b", 31), strings.Repeat("c", 32), strings.Repeat("d", 300), strings.Repeat("e", 70000),
		[]byte{}, make([]byte, 300), make([]byte, 70000),
		[]int{}, make([]int, 15), make([]int, 16), make([]int, 70000),
		map[string]int{}, map[string]int{"a": 1}, bigMap(20), bigMap(70000),
	}
	for _, v := range values {
		for _, compact := range []bool{true, false} {
			var buf bytes.Buffer
			enc := msgpack.NewEncoder(&buf)
			enc.UseCompactInts(compact)
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
			if err := Check(buf.Bytes()); err != nil {
				t.Errorf("%T %.40v: %v", v, v, err)
			}
		}
	}
}

func bigMap(n int) map[int]int {
	m := make(map[int]int, n)
	for i := range n {
		m[i] = i
	}
	return m
}

func TestCheckRefuses(t *testing.T) {
	deep := append(bytes.Repeat([]byte{0x91}, maxDepth), 0xc0)
	tests := []struct {
		name string
		data []byte
		want error // nil: any error
	}{
		{"nothing", nil, ErrTruncated},
		{"two values", []byte{0xc0, 0xc0}, ErrTrailing},
		{"array of four billion", []byte{0xdd, 0xff, 0xff, 0xff, 0xff}, ErrTruncated},
		{"map of four billion", []byte{0xdf, 0xff, 0xff, 0xff, 0xff}, ErrTruncated},
		{"bytes of four billion", []byte{0xc6, 0xff, 0xff, 0xff, 0xff}, ErrTruncated},
		{"string cut in its length", []byte{0xdb, 0, 0}, ErrTruncated},
		{"number cut short", []byte{0xcf, 1}, ErrTruncated},
		{"deep", deep, ErrDepth},
		{"unused byte", []byte{0xc1}, nil},
		{"extension", []byte{0xd4, 1, 2}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check(tt.data)
			if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	if err := Check(deep[1:]); err != nil {
		t.Errorf("%d levels are allowed: %v", maxDepth-1, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	unknown, err := Append(nil, map[string]any{"id": "x", "new": 1})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]byte{
		"nil":           {0xc0},
		"array":         {0x91, 0xc0},
		"unknown field": unknown,
		"wrong type":    {0x81, 0xa1, 'l', 0x01},
		"empty":         {},
	}
	for name, data := range tests {
		var v outer
		if err := Decode(data, &v); err == nil {
			t.Errorf("%s: taken as %+v", name, v)
		}
	}
}

// A decoded value must not change when the buffer it came from is used again.
func TestDecodeSharesNothing(t *testing.T) {
	data, err := Append(nil, &outer{ID: "bag-1", Data: []byte("spec")})
	if err != nil {
		t.Fatal(err)
	}
	var v outer
	if err := Decode(data, &v); err != nil {
		t.Fatal(err)
	}
	clear(data)
	if v.ID != "bag-1" || string(v.Data) != "spec" {
		t.Errorf("changed with its buffer: %+v", v)
	}
}

func FuzzCheck(f *testing.F) {
	seed, _ := Append(nil, &outer{ID: "x", List: []inner{{1, "a"}}, Data: []byte{1}, Count: map[string]int64{"a": 1}, F: 1.5})
	f.Add(seed)
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v outer
		decoded := Decode(data, &v)
		if Check(data) != nil {
			if decoded == nil {
				t.Fatal("decoded what is not well formed")
			}
			return
		}
		// What Check takes, the library can step over to its very end.
		in := bytes.NewReader(data)
		if err := msgpack.NewDecoder(in).Skip(); err != nil || in.Len() != 0 {
			t.Fatalf("Check passed; the library says %v with %d bytes left", err, in.Len())
		}
	})
}
