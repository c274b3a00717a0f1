package hadoop

import "testing"

func TestKeyLen(t *testing.T) {
	for _, test := range []struct {
		sep    string
		fields int
		line   string
		want   int
	}{
		{"\t", 1, "a\tb", 1}, {"\t", 1, "ab", 2}, {"\t", 1, "\tb", 0}, {"\t", 1, "", 0},
		{"\t", 2, "a\tb\tc", 3}, {"\t", 2, "a\tb", 3}, {"", 1, "a\tb", 1}, {".", 4, "1.2.3.4.5", 7},
		{"::", 1, "a:b::c", 3}, {"::", 2, "a::b::c", 4}, {"\t", 0, "a\tb", 1},
	} {
		f := NewLineFormat(test.sep, test.fields)
		if got := f.KeyLen([]byte(test.line)); got != test.want {
			t.Errorf("%q, %d fields, %q: key of %d bytes, want %d", test.sep, test.fields, test.line, got, test.want)
		}
	}
}
