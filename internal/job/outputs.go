package job

import (
	"path"
	"strings"
)

// SaysOutputs reports whether the bag says what its tasks leave behind, so that two attempts of one task do no harm to each other.
func (b *BagSpec) SaysOutputs() bool { return len(b.Outputs) > 0 }

// OutputPatterns returns the patterns of what the task with that index leaves, relative to the job's folder, as path.Match
// has them; a pattern's placeholders stand for parts of the entry as they are, whatever characters they have. None: its tasks
// run in the job's folder.
func (b *BagSpec) OutputPatterns(entry Entry, index int) []string {
	if len(b.Outputs) == 1 && b.Outputs[0] == Discard {
		return nil
	}
	patterns := make([]string, len(b.Outputs))
	for i, p := range b.Outputs {
		patterns[i] = path.Clean(placeholder.ReplaceAllStringFunc(p, func(p string) string {
			return quotePattern(strings.Join(substitute(p, entry, index), " "))
		}))
	}
	return patterns
}

// patternCharacters mean something in a pattern.
const patternCharacters = `*?[\`

// quotePattern returns a pattern that matches the text alone.
func quotePattern(text string) string {
	if !strings.ContainsAny(text, patternCharacters) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(patternCharacters, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Below reports whether a cleaned path or pattern leads to something below the folder that it is relative to.
func Below(p string) bool {
	return p != "." && p != ".." && p != "" && !path.IsAbs(p) && !strings.HasPrefix(p, "../")
}

// outputs checks the patterns of what tasks leave.
func (c *checks) outputs(b *BagSpec) {
	for _, p := range b.Outputs {
		if p == Discard {
			c.must(len(b.Outputs) == 1, "outputs", "%q goes with no pattern", Discard)
			continue
		}
		bare := path.Clean(placeholder.ReplaceAllString(p, "x"))
		_, err := path.Match(bare, "")
		c.must(err == nil, "outputs", "%q is no pattern: a bracket is not closed, or a backslash is the last character", p)
		c.must(Below(bare) && !strings.ContainsRune(p, 0), "outputs",
			"%q is no pattern of names below the job's folder; name what tasks leave elsewhere by absolute paths in their command alone", p)
	}
}

// Named returns the words of the task's command that its entry makes: the entry's columns, and words that a
// placeholder is a part of. Files that they name are what the task works on, as far as anybody can tell.
func (b *BagSpec) Named(entry Entry, index int) []string {
	words := append([]string{}, entry...)
	if b.Shell {
		return words
	}
	for _, word := range b.Command {
		if HasPlaceholder(word) && !isPlaceholder(word) {
			words = append(words, placeholder.ReplaceAllStringFunc(word, func(p string) string {
				return strings.Join(substitute(p, entry, index), " ")
			}))
		}
	}
	return words
}
