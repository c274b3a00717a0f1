package job

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDescribeEntry(t *testing.T) {
	long := strings.Repeat("ä", 300) + "end"
	for _, tt := range []struct {
		bag   BagSpec
		entry Entry
		want  string
	}{
		{BagSpec{}, Entry{"a file.txt"}, "a file.txt"},
		{BagSpec{}, Entry{"a b", "10"}, "'a b' 10"},
		{BagSpec{Array: true}, Entry{"7"}, ""},
		{BagSpec{}, nil, ""},
		{BagSpec{}, Entry{long}, strings.Repeat("ä", 100) + "…" + strings.Repeat("ä", 96) + "end"},
	} {
		got := tt.bag.Describe(tt.entry)
		if got != tt.want || utf8.RuneCountInString(got) > maxDescription {
			t.Errorf("%q: %q, want %q", tt.entry, got, tt.want)
		}
	}
}

func TestDescribeSplit(t *testing.T) {
	part, packed := Range{Path: "/in/a", Offset: 1 << 20, Length: 512}, Range{Path: "/in/b.gz", Length: -1}
	for _, tt := range []struct {
		split Split
		want  string
	}{
		{Split{}, ""},
		{Split{Ranges: []Range{part}}, "/in/a:1048576+512"},
		{Split{Ranges: []Range{packed}}, "/in/b.gz"},
		{Split{Ranges: []Range{part, packed, packed}}, "/in/a:1048576+512 and 2 more"},
	} {
		if got := tt.split.Describe(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.split, got, tt.want)
		}
	}
}
