package job

import (
	"path"
	"reflect"
	"strings"
	"testing"
)

func TestOutputPatterns(t *testing.T) {
	tests := []struct {
		outputs []string
		entry   Entry
		want    []string
	}{
		{[]string{"none"}, Entry{"a"}, nil},
		{[]string{"*.gz"}, Entry{"a"}, []string{"*.gz"}},
		{[]string{"{}.gz", "./log/{/}.txt"}, Entry{"data/a"}, []string{"data/a.gz", "log/a.txt"}},
		{[]string{"{//}/{#}.*"}, Entry{"a"}, []string{"8.*"}},
		{[]string{"{1}-{2}.png"}, Entry{"a*", "[b]"}, []string{`a\*-\[b].png`}},
	}
	for _, tt := range tests {
		b := &BagSpec{Outputs: tt.outputs}
		if got := b.OutputPatterns(tt.entry, 7); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q of %q: %q, want %q", tt.outputs, tt.entry, got, tt.want)
		}
	}
}

// TestOutputPatternsQuote checks that an entry in a pattern matches only itself, whatever characters it has.
func TestOutputPatternsQuote(t *testing.T) {
	for _, name := range []string{"a", "a*b", `a\b`, "[x]", "?", "a]b", "ä"} {
		b := &BagSpec{Outputs: []string{"{}.gz"}}
		p := b.OutputPatterns(Entry{name}, 0)[0]
		if ok, err := path.Match(p, name+".gz"); !ok || err != nil {
			t.Errorf("%q does not match what it was made of (%v)", p, err)
		}
		if ok, _ := path.Match(p, "other.gz"); ok {
			t.Errorf("%q matches another name", p)
		}
	}
}

func TestOutputsValidate(t *testing.T) {
	for pattern, ok := range map[string]bool{
		"*.gz": true, "{}.gz": true, "out/[ab]/*": true, "./x": true,
		"/tmp/x": false, "../x": false, "a/../../x": false, "[a": false, ".": false, "none": true,
	} {
		s := New(Bag, "/home/u")
		s.Bag.Command, s.Bag.Outputs = []string{"true"}, []string{pattern}
		s.Normalize()
		if err := s.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	s := New(Bag, "/home/u")
	s.Bag.Command, s.Bag.Outputs = []string{"true"}, []string{"none", "*.gz"}
	s.Normalize()
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "outputs") {
		t.Errorf("none beside a pattern: %v", err)
	}
}

func TestNamed(t *testing.T) {
	b := &BagSpec{Command: []string{"prog", "-c", "conf", "part{}.dat", "{}"}}
	if got, want := b.Named(Entry{"7"}, 0), []string{"7", "part7.dat"}; !reflect.DeepEqual(got, want) {
		t.Errorf("named are %q, want %q", got, want)
	}
}
