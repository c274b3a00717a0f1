package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpandHosts(t *testing.T) {
	for list, want := range map[string]string{
		"":                            "",
		"(null)":                      "",
		"n1":                          "n1",
		"n[1-3,7],gpu[01-02]-ib":      "n1 n2 n3 n7 gpu01-ib gpu02-ib",
		"n[08-11]":                    "n08 n09 n10 n11",
		"n[9-10]":                     "n9 n10",
		"r[1-2]n[0-1]x":               "r1n0x r1n1x r2n0x r2n1x",
		"[1-2]":                       "1 2",
		"a,,b":                        "a b",
		"login.example.org,n[1].x[2]": "login.example.org n1.x2",
		"n[00001-3]":                  "n00001 n00002 n00003",
	} {
		got, err := expandHosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"n[1-3", "n1]", "n[3-1]", "n[a-b]", "n[]", "n[1--3]", "n[1-9999999]", "n[1-2000]m[1-2000]", "n[1-9999999999999]", "a],[b", "n[1-999999]9]", "n" + strings.Repeat("[1]", 9)} {
		if got, err := expandHosts(list); err == nil {
			t.Errorf("%q is accepted: %.100q", list, got)
		}
	}
}

// TestHostRanges checks that expanding a list of ranges gives each of its numbers once, in order.
func TestHostRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items, want []string
		for i := range rapid.IntRange(1, 4).Draw(t, "items") {
			var ranges []string
			for range rapid.IntRange(1, 3).Draw(t, "ranges") {
				a, n, width := rapid.IntRange(0, 50).Draw(t, "first"), rapid.IntRange(0, 20).Draw(t, "more"), rapid.IntRange(1, 4).Draw(t, "width")
				ranges = append(ranges, fmt.Sprintf("%0*d-%d", width, a, a+n))
				for k := a; k <= a+n; k++ {
					want = append(want, fmt.Sprintf("h%d-%0*d.x", i, width, k))
				}
			}
			items = append(items, fmt.Sprintf("h%d-[%s].x", i, strings.Join(ranges, ",")))
		}
		got, err := expandHosts(strings.Join(items, ","))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: %v, %v", items, got, err)
		}
	})
}

func FuzzExpandHosts(f *testing.F) {
	for _, s := range []string{"n[1-3,7],gpu[01-02]-ib", "r[1-2]n[0-1]x", "n[1", "]", "[,]", "a,,b", "n[1-9999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := expandHosts(s)
		if err != nil {
			return
		}
		if len(names) > maxHosts {
			t.Fatalf("%d names", len(names))
		}
		for _, n := range names {
			if n == "" || strings.ContainsAny(n, "[],") {
				t.Fatalf("%q gives the name %q", s, n)
			}
		}
	})
}
