package job

import (
	"fmt"
	"unicode/utf8"
)

// maxDescription is the length in characters above which a description is shortened.
const maxDescription = 200

// Describe returns a description of the task with that entry, for people: the entry's columns,
// shortened to 200 characters. Several columns are each quoted for a shell. It returns "" for an
// array index, because the index is the name of the task already.
func (b *BagSpec) Describe(e Entry) string {
	switch {
	case b.Array || len(e) == 0:
		return ""
	case len(e) == 1:
		return Shorten(e[0], maxDescription)
	default:
		return Shorten(quoteWords(e), maxDescription)
	}
}

// Describe returns a description of the split, for people: the first range as PATH:OFFSET+LENGTH in
// bytes and the number of further ranges. A compressed file is read as a whole and has its path
// alone. The path is shortened to 200 characters.
func (s Split) Describe() string {
	if len(s.Ranges) == 0 {
		return ""
	}
	r := s.Ranges[0]
	text := Shorten(r.Path, maxDescription)
	if r.Length >= 0 {
		text += fmt.Sprintf(":%d+%d", r.Offset, r.Length)
	}
	if more := len(s.Ranges) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Shorten returns text with at most limit characters. In longer text "…" replaces the middle,
// because the ends of paths and command lines are the most informative. A limit below 3 counts as 3.
func Shorten(text string, limit int) string {
	limit = max(limit, 3)
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	tail := (limit - 1) / 2
	return string(runes[:limit-1-tail]) + "…" + string(runes[len(runes)-tail:])
}
