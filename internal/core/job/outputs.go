package job

import (
	"path"
	"slices"
	"strings"
)

// SaysOutputs reports whether the bag declares the outputs of its tasks (--outputs). Then two attempts of one task do not disturb each other.
func (b *BagSpec) SaysOutputs() bool { return len(b.Outputs) > 0 }

// CollectMany turns on the collection of output for a bag with more than ManyTasks tasks, and for one that is open, unless the user named
// files for it. It must be called before Normalize.
func (b *BagSpec) CollectMany(tasks int) {
	unsaid := func(template string) bool { return template == "" || template == Discard }
	if (tasks > ManyTasks || b.Open) && unsaid(b.Stdout) && unsaid(b.Stderr) && (b.Stdout == "" || b.Stderr == "") {
		b.Collect = true
	}
}

// Collected reports whether the output of a template is collected.
func (b *BagSpec) Collected(template string) bool { return b.Collect && template != Discard }

// CollectFolder returns the folder of the files in which output is collected.
func (b *BagSpec) CollectFolder(id ID) string {
	if b.Stdout == Discard {
		return OutputFolder(b.Stderr, id)
	}
	return OutputFolder(b.Stdout, id)
}

// Shares reports whether another job may write files of the same names as the tasks: names that a user gives need not have the id of the job.
func (b *BagSpec) Shares() bool {
	for _, template := range []string{b.Stdout, b.Stderr} {
		if template != "" && template != Discard && !b.Collect && !strings.HasPrefix(template, "/dev/") && !strings.Contains(template, "{job}") {
			return true
		}
	}
	return len(b.Outputs) > 0 && b.Outputs[0] != Discard
}

// OutputPatterns returns the patterns (path.Match) of the outputs of the task with that index, relative to the job's folder.
// Parts of the entry that replace placeholders match themselves, whatever characters they have. The task of a bag without patterns
// runs in the job's folder.
func (b *BagSpec) OutputPatterns(entry Entry, index int) []string {
	if len(b.Outputs) == 1 && b.Outputs[0] == Discard {
		return nil
	}
	return patternsOf(b.Outputs, entry, index)
}

// OwnOutputs reports whether the names of a task's outputs have its number, so that no other task leaves files of the same.
func (b *BagSpec) OwnOutputs() bool {
	return !slices.ContainsFunc(b.Outputs, func(p string) bool { return !strings.Contains(p, "{#}") && p != Discard })
}

// OutputShapes returns patterns that match the outputs of any task: each placeholder becomes *.
func (b *BagSpec) OutputShapes() []string {
	if len(b.Outputs) == 1 && b.Outputs[0] == Discard {
		return nil
	}
	shapes := make([]string, len(b.Outputs))
	for i, p := range b.Outputs {
		shapes[i] = path.Clean(placeholder().ReplaceAllString(p, "*"))
	}
	return shapes
}

// InputPatterns returns the patterns of the files that the task with that index needs besides those that its command names, in the form of
// OutputPatterns.
func (b *BagSpec) InputPatterns(entry Entry, index int) []string {
	return patternsOf(b.Inputs, entry, index)
}

// patternsOf replaces the placeholders of patterns by the values of a task's entry.
func patternsOf(patterns []string, entry Entry, index int) []string {
	made := make([]string, len(patterns))
	for i, p := range patterns {
		made[i] = path.Clean(fill(p, entry, index, quotePattern))
	}
	return made
}

// fill replaces the placeholders of a word of the command by the values of an entry.
func (b *BagSpec) fill(word string, entry Entry, index int, quote func(string) string) string {
	return b.places().ReplaceAllStringFunc(word, func(p string) string {
		return quote(strings.Join(b.values(p, entry, index), " "))
	})
}

// fill replaces the placeholders of a text by the values of an entry.
func fill(text string, entry Entry, index int, quote func(string) string) string {
	return (&BagSpec{}).fill(text, entry, index, quote)
}

// patternCharacters are the characters with a special meaning in a pattern.
const patternCharacters = `*?[\`

// quotePattern returns a pattern that matches the text and nothing else.
func quotePattern(text string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(text)
}

// Below reports whether a cleaned path or pattern leads to something below the folder that it is relative to.
func Below(p string) bool {
	return p != "." && p != ".." && p != "" && !path.IsAbs(p) && !strings.HasPrefix(p, "../")
}

// outputs checks the patterns of the outputs and inputs of tasks.
func (c *checks) outputs(b *BagSpec) {
	for _, p := range b.Outputs {
		if p == Discard {
			c.require(len(b.Outputs) == 1, "outputs", "%q cannot be combined with a pattern", Discard)
			continue
		}
		c.pattern(p, "outputs", "for outputs elsewhere write absolute paths in the command and no pattern")
	}
	for _, p := range b.Inputs {
		c.pattern(p, "inputs", "start the job in a folder above these files")
	}
}

// pattern checks a pattern of names below the job's folder.
func (c *checks) pattern(p, where, advice string) {
	bare := path.Clean(placeholder().ReplaceAllString(p, "x"))
	_, err := path.Match(bare, "")
	c.require(err == nil, where, "%q is not a valid pattern: a bracket is not closed, or a backslash is the last character", p)
	c.require(Below(bare) && !strings.ContainsRune(p, 0), where, "%q is not a pattern of names below the job's folder; %s", p, advice)
}

// Named returns the words of the task's command that depend on its entry: the entry's columns, and words that contain a
// placeholder. The files that these words name are most probably the task's input.
func (b *BagSpec) Named(entry Entry, index int) []string {
	words := append([]string{}, entry...)
	if b.Shell {
		return words
	}
	for _, word := range b.Command {
		if b.hasPlaceholder(word) && !b.isPlaceholder(word) {
			words = append(words, b.fill(word, entry, index, asItIs))
		}
	}
	return words
}

func asItIs(s string) string { return s }

// Word is a part of a task's command that may name a file.
type Word struct {
	Text    string
	Pattern bool // Text is a pattern, which the shell replaces by what it matches
	Own     bool // it depends on the entry, so the file may be the task's own input (Named)
}

// betweenWords are the characters that end words of a shell command, and the = before a file's name in options such as --config=FILE.
const betweenWords = " \t\n|&;<>()$`\"'="

// Words returns the parts of the task's command that may name files: its words and the entry's columns. A shell command, or an argument that may be
// one as in sh -c, is also split at the shell's special characters.
func (b *BagSpec) Words(entry Entry, index int) []Word {
	var words []Word
	for _, w := range b.Named(entry, index) {
		words = append(words, Word{Text: w, Own: true})
		if strings.ContainsAny(w, betweenWords) { // it may be a shell command
			for _, part := range parts(w) {
				words = append(words, Word{Text: part, Own: true, Pattern: strings.ContainsAny(part, patternCharacters)})
			}
		}
	}
	for _, word := range b.Command {
		if !b.Shell && !b.hasPlaceholder(word) {
			words = append(words, Word{Text: word})
		}
		if !b.Shell && !strings.ContainsAny(word, betweenWords) {
			continue
		}
		for _, part := range parts(word) {
			w := Word{Pattern: strings.ContainsAny(part, patternCharacters), Own: b.hasPlaceholder(part)}
			quote := asItIs
			if w.Pattern {
				quote = quotePattern
			}
			w.Text = b.fill(part, entry, index, quote)
			words = append(words, w)
		}
	}
	return words
}

func parts(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(betweenWords, r) })
}
