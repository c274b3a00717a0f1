package cluster

import (
	"slices"
	"strings"
	"testing"
)

// FuzzConstraint compares with a plain reading from left to right where there are no
// parentheses; with them it must only come to an end and say the same of the whole in
// parentheses.
func FuzzConstraint(f *testing.F) {
	for _, text := range []string{"a", "a&b", "a|b&c", "a,b", "(a|c)&b", "b&(a|(c))", "a*2", "[a|b]", "a&", "", "()", "(a", "a)", "a b", "a(b)"} {
		f.Add(text)
	}
	features := []string{"a", "b"}
	f.Fuzz(func(t *testing.T, text string) {
		yes, ok := satisfies(text, features)
		if text != "" {
			if inner, innerOK := satisfies("("+text+")", features); ok && (!innerOK || inner != yes) {
				t.Errorf("%q is %v, in parentheses %v (%v)", text, yes, inner, innerOK)
			}
		}
		if strings.ContainsAny(text, "()[]* ") || text == "" {
			return
		}
		want, wantOK, op := true, true, '&'
		for rest := text; ; {
			i := strings.IndexAny(rest+"&", "&|,")
			has := slices.Contains(features, rest[:i])
			wantOK = wantOK && i > 0
			if op == '|' {
				want = want || has
			} else {
				want = want && has
			}
			if i == len(rest) {
				break
			}
			op, rest = rune(rest[i]), rest[i+1:]
		}
		if ok != wantOK || (ok && yes != want) {
			t.Errorf("%q is %v (%v), want %v (%v)", text, yes, ok, want, wantOK)
		}
	})
}
