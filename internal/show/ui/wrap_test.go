package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrapLines(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"short", "short"},
		{"on         slurm: 4 nodes of 16 cores and 64G in partition batch", "on         slurm: 4 nodes of\n           16 cores and 64G in\n           partition batch"},
		{"task 4 failed on node1: exit status 3 (attempt 1)", "task 4 failed on node1: exit\n  status 3 (attempt 1)"},
		{"  | a long line of a standard error", "  | a long line of a standard\n    error"},
		{"logs: /a/very/long/path/that/has/no/space/in/it", "logs:\n  /a/very/long/path/that/has/no/space/in/it"},
		{strings.Repeat("x", 50), strings.Repeat("x", 50)},
		{color(true).bold("A  now  the earliest start"), color(true).bold("A  now  the earliest start")}, // colours take no columns
	} {
		if got := strings.Join(wrapLines([]string{tt.line}, 30), "\n"); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

// TestWrapKeepsWords: breaking loses and splits no word, and lines of words that fit are no wider than asked.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-zä]{0,12}`)).Draw(t, "words"), " ")
		width := rapid.IntRange(30, 80).Draw(t, "width")
		out := wrapLine(line, width)
		if got, want := strings.Fields(strings.Join(out, "\n")), strings.Fields(line); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%q became %q", line, out)
		}
		for _, l := range out {
			if columns(strings.TrimRight(l, " ")) > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
		}
	})
}
