package driver

import (
	"iter"
	"strings"
)

// Table is a text of lines KEY = WORDS: what a batch system or a program says, and what that means. Blanks may stand around them.
type Table string

// All returns the lines in order.
func (t Table) All() iter.Seq2[string, string] {
	return func(yield func(key, words string) bool) {
		for line := range strings.Lines(string(t)) {
			if key, words, is := strings.Cut(strings.TrimSpace(line), " = "); is && !yield(strings.TrimSpace(key), words) {
				return
			}
		}
	}
}

// First returns the words of the first key that applies, "" if none does.
func (t Table) First(applies func(key string) bool) string {
	for key, words := range t.All() {
		if applies(key) {
			return words
		}
	}
	return ""
}

// Of returns the words of a key, "" if the table lacks it.
func (t Table) Of(key string) string { return t.First(func(k string) bool { return k == key }) }
