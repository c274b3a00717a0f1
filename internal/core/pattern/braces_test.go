package pattern

import (
	"strings"
	"testing"
)

func FuzzBraces(f *testing.F) {
	f.Add("a{b,{c,d}}[{]e\\{")
	f.Add("}{")
	f.Fuzz(func(t *testing.T, pattern string) {
		all, err := Braces(pattern)
		if err != nil {
			return
		}
		if len(all) == 0 || len(all) > maxPatterns {
			t.Fatalf("%d alternatives", len(all))
		}
		if !strings.Contains(pattern, "{") && (len(all) != 1 || all[0] != pattern) {
			t.Fatalf("got %q", all)
		}
	})
}
