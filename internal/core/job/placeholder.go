package job

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"berth/internal/core/pattern"
)

// placeholder matches the placeholders in a bag's command, which are GNU parallel's: {} is the entry,
// {.} the entry without its extension, {/} its base name, {//} its folder, {/.} its base name without
// extension, and {#} the number of the task from 1. {2}, {2.}, {-1/} … do the same for one column,
// counted from 1, or with a minus from the last. For an entry with several columns, a word that
// consists of a placeholder becomes one word for each column; inside a longer word the columns are
// joined by spaces.
const placeholderForm = `\{(?:(#)|(-?[1-9][0-9]{0,3})?(//|/\.|/|\.)?)\}`

var placeholder = pattern.Lazy(placeholderForm)

func isPlaceholder(word string) bool {
	at := placeholder().FindStringIndex(word)
	return at != nil && at[0] == 0 && at[1] == len(word)
}

// places returns the expression of the placeholders in the bag's command.
func (b *BagSpec) places() *regexp.Regexp {
	if b.Placeholder == "" {
		return placeholder()
	}
	return regexp.MustCompile(regexp.QuoteMeta(b.Placeholder))
}

// hasPlaceholder reports whether a word of the command has a placeholder.
func (b *BagSpec) hasPlaceholder(word string) bool { return b.places().MatchString(word) }

// isPlaceholder reports whether a word of the command is one placeholder.
func (b *BagSpec) isPlaceholder(word string) bool {
	return word != "" && (word == b.Placeholder || b.Placeholder == "" && isPlaceholder(word))
}

// values returns what replaces a placeholder of the command.
func (b *BagSpec) values(p string, entry Entry, index int) []string {
	if b.Placeholder != "" {
		return entry
	}
	return substitute(p, entry, index)
}

// MaxColumn returns the largest column that the command or the name of an output file asks for by number.
func (b *BagSpec) MaxColumn() int {
	largest := 0
	words := []string{b.Stdout, b.Stderr}
	if b.Placeholder == "" {
		words = append(words, b.Command...)
	}
	for _, word := range words {
		for _, m := range placeholder().FindAllStringSubmatch(word, -1) {
			n, _ := strconv.Atoi(m[2]) // the pattern allows digits only; none is 0
			largest = max(largest, n, -n)
		}
	}
	return largest
}

// Argv returns the argument vector of the task with that index (from 0).
//
// The shell never reads a value as code. A value with characters other than letters, digits and
// _@%+=:,./- is passed as a positional parameter, and the parameter is quoted as its position in the
// command requires. So 'gzip "{}"', 'gzip {}' and `gzip '{}'` do the same.
func (b *BagSpec) Argv(entry Entry, index int) []string {
	if b.Shell {
		script, values := b.shellScript(entry, index)
		argv := []string{b.shell(), "-c", script}
		if len(values) == 0 {
			return argv
		}
		return append(append(argv, path.Base(b.shell())), values...)
	}
	argv := make([]string, 0, len(b.Command)+len(entry))
	for _, word := range b.Command {
		if b.isPlaceholder(word) {
			argv = append(argv, b.values(word, entry, index)...)
			continue
		}
		argv = append(argv, b.fill(word, entry, index, asItIs))
	}
	if b.ShellProgram != "" { // the entries are the commands
		argv[0] = b.ShellProgram
	}
	return argv
}

// CommandLine returns the task's command as a user would type it in a shell, for a
// joblog or a report.
func (b *BagSpec) CommandLine(entry Entry, index int) string {
	if !b.Shell {
		return quoteWords(b.Argv(entry, index))
	}
	return b.places().ReplaceAllStringFunc(b.Command[0], func(p string) string {
		return quoteWords(b.values(p, entry, index))
	})
}

// TaskID returns the name of a task: its array index, or its number from 1.
func (b *BagSpec) TaskID(entry Entry, index int) string {
	if b.Array && len(entry) > 0 {
		return entry[0]
	}
	return strconv.Itoa(index + 1)
}

// outputPlaceholder matches the placeholders in the template of an output file: {job}, {task}, {rank}, and the placeholders of
// the command.
var outputPlaceholder = pattern.Lazy(`\{job\}|\{task\}|\{rank\}|` + placeholderForm)

// rankPlaceholder stands for the number of the rank in the template of an output file, if the command starts on every rank.
const rankPlaceholder = "{rank}"

// rankUnclear matches a rank's number that cannot be told from what is beside it.
var rankUnclear = pattern.Lazy(`[0-9}]\{rank\}|\{rank\}[0-9{]`)

// OfEachRank reports whether a template gives each rank of a task a file of its own.
func (b *BagSpec) OfEachRank(template string) bool {
	return b.EachRank && strings.Contains(template, rankPlaceholder)
}

// OutputPath returns the output file of a rank (from 0) of the task with that index (from 0). The template Discard is returned unchanged.
func (b *BagSpec) OutputPath(template string, id ID, entry Entry, index, rank int) string {
	if template == Discard {
		return template
	}
	return path.Clean(outputPlaceholder().ReplaceAllStringFunc(template, func(p string) string {
		switch p {
		case "{job}":
			return string(id)
		case "{task}":
			return b.TaskID(entry, index)
		case rankPlaceholder:
			return strconv.Itoa(rank)
		default:
			return strings.Join(substitute(p, entry, index), " ")
		}
	}))
}

// OutputFolder returns the folder below which all files of a template are.
func OutputFolder(template string, id ID) string {
	whole := strings.ReplaceAll(template, "{job}", string(id))
	if at := outputPlaceholder().FindStringIndex(whole); at != nil {
		whole = whole[:at[0]]
	}
	return path.Dir(whole)
}

// everyTaskOwn reports whether a template gives each task its own file for any list of entries.
func everyTaskOwn(template string) bool {
	return template == Discard || strings.Contains(template, "{task}") || strings.Contains(template, "{#}")
}

// SharedOutput returns an output file that two tasks would write, and the indices of these tasks. ok is false if there is no such file.
func (b *BagSpec) SharedOutput(id ID, entries []Entry) (file string, tasks [2]int, ok bool) {
	of := map[string]int{}
	for _, template := range []string{b.Stdout, b.Stderr} {
		if everyTaskOwn(template) {
			continue
		}
		for i, e := range entries {
			file = b.OutputPath(template, id, e, i, 0)
			if first, there := of[file]; there {
				return file, [2]int{first, i}, true
			}
			of[file] = i
		}
	}
	return "", tasks, false
}

// substitute returns the values of a placeholder, one for each column that it stands for.
func substitute(p string, entry Entry, index int) []string {
	m := placeholder().FindStringSubmatch(p)
	if m[1] == "#" {
		return []string{strconv.Itoa(index + 1)}
	}
	columns := entry
	if m[2] != "" {
		columns = nil
		n, _ := strconv.Atoi(m[2]) // the pattern allows digits only
		if n < 0 {
			n += len(entry) + 1
		}
		if n >= 1 && n <= len(entry) {
			columns = entry[n-1 : n]
		}
	}
	if m[3] == "" {
		return columns
	}
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = modify(c, m[3])
	}
	return values
}

// modify applies a placeholder's modifier, such as . or //, to a value.
func modify(value, modifier string) string {
	switch modifier {
	case ".":
		return withoutExtension(value)
	case "/":
		return baseName(value)
	case "/.":
		return withoutExtension(baseName(value))
	default:
		return dirName(value)
	}
}

// withoutExtension removes the last point of the base name and everything after it.
func withoutExtension(s string) string {
	if i := strings.LastIndexByte(s, '.'); i >= 0 && i+1 < len(s) && !strings.Contains(s[i:], "/") {
		return s[:i]
	}
	return s
}

func baseName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// dirName returns what dirname(1) prints: it ignores slashes at the end, and returns "." for a name without a folder.
func dirName(s string) string {
	trimmed := strings.TrimRight(s, "/")
	if trimmed == "" && s != "" {
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}
