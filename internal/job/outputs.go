package job

import (
	"path"
	"strings"
)

// SaysOutputs reports whether the bag says what its tasks leave behind, so that two attempts of one task do no harm to each other.
func (b *BagSpec) SaysOutputs() bool { return len(b.Outputs) > 0 }

// CollectMany has what tasks print collected where there are many of them and the user did not say where it goes. It is called before Normalize.
func (b *BagSpec) CollectMany(tasks int) {
	unsaid := func(template string) bool { return template == "" || template == Discard }
	if tasks > ManyTasks && unsaid(b.Stdout) && unsaid(b.Stderr) && (b.Stdout == "" || b.Stderr == "") {
		b.Collect = true
	}
}

// Collected reports whether what goes to a template is collected.
func (b *BagSpec) Collected(template string) bool { return b.Collect && template != Discard }

// CollectFolder returns the folder of the files in which output is collected.
func (b *BagSpec) CollectFolder(id ID) string {
	if b.Stdout == Discard {
		return OutputFolder(b.Stderr, id)
	}
	return OutputFolder(b.Stdout, id)
}

// OutputPatterns returns the patterns of what the task with that index leaves, relative to the job's folder, as path.Match
// has them; a pattern's placeholders stand for parts of the entry as they are, whatever characters they have. None: its tasks
// run in the job's folder.
func (b *BagSpec) OutputPatterns(entry Entry, index int) []string {
	if len(b.Outputs) == 1 && b.Outputs[0] == Discard {
		return nil
	}
	return patternsOf(b.Outputs, entry, index)
}

// OutputShapes returns patterns that match whatever any task leaves: each placeholder stands for anything.
func (b *BagSpec) OutputShapes() []string {
	if len(b.Outputs) == 1 && b.Outputs[0] == Discard {
		return nil
	}
	shapes := make([]string, len(b.Outputs))
	for i, p := range b.Outputs {
		shapes[i] = path.Clean(placeholder.ReplaceAllString(p, "*"))
	}
	return shapes
}

// InputPatterns returns the patterns of what the task with that index needs beside what its command names, as OutputPatterns has them.
func (b *BagSpec) InputPatterns(entry Entry, index int) []string {
	return patternsOf(b.Inputs, entry, index)
}

// patternsOf puts a task's entry into patterns.
func patternsOf(patterns []string, entry Entry, index int) []string {
	made := make([]string, len(patterns))
	for i, p := range patterns {
		made[i] = path.Clean(fill(p, entry, index, quotePattern))
	}
	return made
}

// fill puts an entry's values into the placeholders of a text.
func fill(text string, entry Entry, index int, quote func(string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		return quote(strings.Join(substitute(p, entry, index), " "))
	})
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

// outputs checks the patterns of what tasks leave, and of what they need.
func (c *checks) outputs(b *BagSpec) {
	for _, p := range b.Outputs {
		if p == Discard {
			c.must(len(b.Outputs) == 1, "outputs", "%q goes with no pattern", Discard)
			continue
		}
		c.pattern(p, "outputs", "name what tasks leave elsewhere by absolute paths in their command alone")
	}
	for _, p := range b.Inputs {
		c.pattern(p, "inputs", "start the job in a folder above")
	}
}

// pattern checks a pattern of names below the job's folder.
func (c *checks) pattern(p, where, advice string) {
	bare := path.Clean(placeholder.ReplaceAllString(p, "x"))
	_, err := path.Match(bare, "")
	c.must(err == nil, where, "%q is no pattern: a bracket is not closed, or a backslash is the last character", p)
	c.must(Below(bare) && !strings.ContainsRune(p, 0), where, "%q is no pattern of names below the job's folder; %s", p, advice)
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
			words = append(words, fill(word, entry, index, asItIs))
		}
	}
	return words
}

func asItIs(s string) string { return s }

// Word is a part of a task's command that may name a file.
type Word struct {
	Text    string
	Pattern bool // Text is a pattern, which the shell replaces by what it matches
	Own     bool // it comes from the entry, so the task may work on the file itself (Named)
}

// betweenWords are the characters that end words of a shell's command, and what comes before a file's name in options such as --config=FILE.
const betweenWords = " \t\n|&;<>()$`\"'="

// Words returns what in the task's command may name files: its words, the entry's columns, and in commands for a shell, whole or in an argument as
// that of sh -c, what stands between its special characters.
func (b *BagSpec) Words(entry Entry, index int) []Word {
	var words []Word
	for _, w := range b.Named(entry, index) {
		words = append(words, Word{Text: w, Own: true})
		if strings.ContainsAny(w, betweenWords) { // it may be a command
			for _, part := range parts(w) {
				words = append(words, Word{Text: part, Own: true, Pattern: strings.ContainsAny(part, patternCharacters)})
			}
		}
	}
	for _, word := range b.Command {
		if !b.Shell && !HasPlaceholder(word) {
			words = append(words, Word{Text: word})
		}
		if !b.Shell && !strings.ContainsAny(word, betweenWords) {
			continue
		}
		for _, part := range parts(word) {
			if strings.ContainsAny(part, patternCharacters) {
				words = append(words, Word{Text: fill(part, entry, index, quotePattern), Pattern: true, Own: HasPlaceholder(part)})
			} else {
				words = append(words, Word{Text: fill(part, entry, index, asItIs), Own: HasPlaceholder(part)})
			}
		}
	}
	return words
}

func parts(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(betweenWords, r) })
}

// TravelEnv returns what of the environment goes to hosts that share no file system with the user's machine: what the job file says, and the language and time
// zone that results may depend on. Whatever else is there, keys and tokens for instance, is not theirs to know.
func (b *BagSpec) TravelEnv() []string { return travelEnv(b.Env, b.EnvSaid) }

// TravelEnv returns that of a MapReduce job, for which -cmdenv says some of it.
func (m *MapReduceSpec) TravelEnv() []string { return travelEnv(m.Env, m.CmdEnv) }

func travelEnv(all, said []string) []string {
	var env []string
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if name == "LANG" || name == "LANGUAGE" || name == "TZ" || strings.HasPrefix(name, "LC_") {
			env = append(env, v)
		}
	}
	return append(env, said...)
}
