package job

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Placeholders in a bag's command are GNU parallel's: {} the entry, {.} without its
// extension, {/} its base name, {//} its folder, {/.} base name without extension,
// {#} the task's number from 1, and {2}, {2.}, {-1/} … the same of one column, from
// 1, or from the last with a minus. Where an entry has several columns, a word that
// is a placeholder alone becomes one word a column; within a word they are joined by
// a space.
var placeholder = regexp.MustCompile(`\{(?:(#)|(-?[1-9][0-9]{0,3})?(//|/\.|/|\.)?)\}`)

func isPlaceholder(word string) bool {
	at := placeholder.FindStringIndex(word)
	return at != nil && at[0] == 0 && at[1] == len(word)
}

// HasPlaceholder reports whether a word has a placeholder.
func HasPlaceholder(word string) bool { return placeholder.MatchString(word) }

// shellCharacters make a command of one word one for the shell.
const shellCharacters = " \t\n|&;<>()$`\\\"'*?[]~"

// BagCommand makes a bag's command of the words a user gave. One word with white
// space or characters of the shell is for the shell; more words are run as they are.
// Unless the entries are array indices, a command without placeholder gets the
// entry as its last argument. {} alone: each entry is a command for the shell. There must
// be at least one word: a user who forgets the command does not mean that file names be run.
func BagCommand(words []string, array bool) (command []string, shell bool) {
	if len(words) == 1 && words[0] == "{}" {
		return []string{"/bin/sh", "-c", "{}"}, false
	}
	command = append(command, words...)
	shell = len(words) == 1 && strings.ContainsAny(words[0], shellCharacters)
	if array || HasPlaceholder(strings.Join(words, "\n")) {
		return command, shell
	}
	if shell {
		command[0] += " {}"
		return command, true
	}
	return append(command, "{}"), false
}

// MaxColumn returns the largest column that the command or the name of an output file asks for by number.
func (b *BagSpec) MaxColumn() int {
	largest := 0
	for _, word := range append([]string{b.Stdout, b.Stderr}, b.Command...) {
		for _, m := range placeholder.FindAllStringSubmatch(word, -1) {
			n, _ := strconv.Atoi(m[2]) // the pattern allows digits only; none is 0
			largest = max(largest, n, -n)
		}
	}
	return largest
}

// Argv returns the argument vector of the task with that index (from 0).
//
// A value never becomes code of the shell: one that has characters other than
// letters, digits and _@%+=:,./- reaches it as a positional parameter, quoted as the
// place where it stands asks for. So 'gzip "{}"', 'gzip {}' and `gzip '{}'` do the same.
func (b *BagSpec) Argv(entry Entry, index int) []string {
	if b.Shell {
		script, values := shellScript(b.Command[0], entry, index)
		argv := []string{"/bin/sh", "-c", script}
		if len(values) == 0 {
			return argv
		}
		return append(append(argv, "sh"), values...)
	}
	argv := make([]string, 0, len(b.Command)+len(entry))
	for _, word := range b.Command {
		if isPlaceholder(word) {
			argv = append(argv, substitute(word, entry, index)...)
			continue
		}
		argv = append(argv, placeholder.ReplaceAllStringFunc(word, func(p string) string {
			return strings.Join(substitute(p, entry, index), " ")
		}))
	}
	return argv
}

// CommandLine writes the task's command as one would type it in a shell, for a
// joblog or a report.
func (b *BagSpec) CommandLine(entry Entry, index int) string {
	if !b.Shell {
		return quoteWords(b.Argv(entry, index))
	}
	return placeholder.ReplaceAllStringFunc(b.Command[0], func(p string) string {
		return quoteWords(substitute(p, entry, index))
	})
}

// TaskID returns what a task is called: its array index, or its number from 1.
func (b *BagSpec) TaskID(entry Entry, index int) string {
	if b.Array && len(entry) > 0 {
		return entry[0]
	}
	return strconv.Itoa(index + 1)
}

// outputPlaceholder matches what stands for something in the template of an output file: {job}, {task}, and the placeholders of
// the command.
var outputPlaceholder = regexp.MustCompile(`\{job\}|\{task\}|` + placeholder.String())

// OutputPath returns the file that a template stands for, of the task with that index (from 0). Discard stays as it is.
func (b *BagSpec) OutputPath(template string, id ID, entry Entry, index int) string {
	if template == Discard {
		return template
	}
	return path.Clean(outputPlaceholder.ReplaceAllStringFunc(template, func(p string) string {
		switch p {
		case "{job}":
			return string(id)
		case "{task}":
			return b.TaskID(entry, index)
		default:
			return strings.Join(substitute(p, entry, index), " ")
		}
	}))
}

// OutputFolder returns the folder below which all files of a template are.
func OutputFolder(template string, id ID) string {
	whole := strings.ReplaceAll(template, "{job}", string(id))
	if at := outputPlaceholder.FindStringIndex(whole); at != nil {
		whole = whole[:at[0]]
	}
	return path.Dir(whole)
}

// everyTaskOwn reports whether a template gives each task a file of its own whatever the entries are.
func everyTaskOwn(template string) bool {
	return template == Discard || strings.Contains(template, "{task}") || strings.Contains(template, "{#}")
}

// SharedOutput returns an output file that two tasks would write, and the indices of the tasks; ok is false where each task has its own.
func (b *BagSpec) SharedOutput(id ID, entries []Entry) (file string, tasks [2]int, ok bool) {
	of := map[string]int{}
	for _, template := range []string{b.Stdout, b.Stderr} {
		if everyTaskOwn(template) {
			continue
		}
		for i, e := range entries {
			file = b.OutputPath(template, id, e, i)
			if first, there := of[file]; there {
				return file, [2]int{first, i}, true
			}
			of[file] = i
		}
	}
	return "", tasks, false
}

// substitute returns what a placeholder stands for, a value for each column meant.
func substitute(p string, entry Entry, index int) []string {
	m := placeholder.FindStringSubmatch(p)
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

// modify applies what follows the column in a placeholder.
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

// withoutExtension cuts off the last point and what follows, unless a slash does.
func withoutExtension(s string) string {
	if i := strings.LastIndexByte(s, '.'); i >= 0 && i+1 < len(s) && !strings.Contains(s[i:], "/") {
		return s[:i]
	}
	return s
}

func baseName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// dirName is dirname(1): slashes at the end do not count, "." without any other.
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
