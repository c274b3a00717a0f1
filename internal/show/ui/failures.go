package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// maxInput is the largest number of characters of a task's input in a line or a cell.
const maxInput = 60

// cause returns how an attempt failed: its reason, exit code or signal.
func cause(f report.Failure) string {
	switch {
	case f.Reason != "":
		return clean(f.Reason)
	case f.Signal != 0:
		return "killed by signal " + strconv.Itoa(f.Signal)
	default:
		return "exit " + strconv.Itoa(f.Exit)
	}
}

// taskWord returns the name of a task within a sentence: "task 4", "map 3".
func taskWord(v string) string {
	if _, err := strconv.Atoi(v); err == nil {
		return "task " + v
	}
	return clean(v)
}

// inputCell returns a shortened input of a task; empty where it is unknown.
func inputCell(input string) string { return job.Shorten(clean(input), maxInput) }

// taskWithInput is taskWord followed by the input: "task 4 (b.txt)".
func taskWithInput(name, input string) string {
	return taskWord(name) + aside(inputCell(input))
}

// Bounds of shownErrors.
const (
	// longError is the number of lines from which on a standard error is shown only once.
	longError = 3
	// maxShown is how many standard errors are remembered.
	maxShown = 100
)

// shownErrors remembers the standard errors that were shown: attempts of one program often fail alike, and a long
// text is shown once. The zero value is empty.
type shownErrors struct {
	of map[string]report.Failure // by standard error without its last line: the failure with which it was shown
}

// cutLast cuts a failure's standard error before its last line, which of a traceback says what was wrong with this task's
// data. The task's own input, such as the name of its file, is left out.
func cutLast(f report.Failure) (before, last string) {
	text := strings.TrimRight(f.Stderr, "\n")
	if len(f.Input) >= 2 { // a single character may mean anything
		text = strings.ReplaceAll(text, f.Input, "{}")
	}
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:]
}

// alike groups failures of the same cause with the same long standard error, in the order of the first of each.
func alike(all []report.Failure) (groups [][]report.Failure) {
	at := map[string]int{}
	for _, f := range all {
		before, last := cutLast(f)
		key := cause(f) + "\n" + before + last
		i, known := at[key]
		if !known || strings.Count(before, "\n")+1 < longError {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// maxAlike is how many of the attempts that failed alike are named.
const maxAlike = 5

// alikeText names attempts that failed as the one before them.
func alikeText(same []report.Failure) string {
	var names []string
	for _, f := range same[:min(len(same), maxAlike)] {
		name := taskWithInput(f.Name, f.Input)
		if f.Attempt > 1 {
			name += ", attempt " + strconv.Itoa(f.Attempt)
		}
		names = append(names, name)
	}
	text := job.Count(len(same), "more attempt") + " failed alike: " + strings.Join(names, "; ")
	if n := len(same) - maxAlike; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// sameLines returns one line that names the failure whose text is the same, and the last line if only that is another.
func sameLines(f, before report.Failure, text []string) []string {
	same := fmt.Sprintf("attempt %d", before.Attempt)
	if before.Task != f.Task {
		same = taskWord(before.Name) + ", " + same
	}
	_, last := cutLast(f)
	_, lastBefore := cutLast(before)
	n := len(text)
	if last != lastBefore {
		n--
	}
	line := fmt.Sprintf("  | the same %d lines as %s", n, same)
	switch {
	case last != lastBefore:
		return []string{line + ", and then", "  | " + text[n]}
	case before.Stderr != f.Stderr:
		line += ", with its own input"
	}
	return []string{line}
}

// lines describes a failed attempt: the task, the cause, whether it is tried again, and the last lines of its
// standard error.
func (s *shownErrors) lines(f report.Failure) []string {
	first := taskWithInput(f.Name, f.Input) + " failed" + lead(" on ", clean(f.Host)) + ": " + cause(f)
	switch {
	case !f.Final && f.Left > 0:
		first += fmt.Sprintf(" (attempt %d; it is tried again)", f.Attempt)
	case f.Attempt > 1:
		first += fmt.Sprintf(" (attempt %d, the last)", f.Attempt)
	}
	lines := append([]string{first}, s.errorLines(f)...)
	if whole := cmp.Or(f.File, f.Command); whole != "" && f.Stderr != "" {
		lines = append(lines, "  see "+clean(whole))
	}
	return lines
}

// errorLines returns the lines of a failure's standard error, or one line that names the failure where the same text
// was shown.
func (s *shownErrors) errorLines(f report.Failure) []string {
	text := cleanLines(f.Stderr)
	if len(text) >= longError {
		key, _ := cutLast(f)
		if before, ok := s.of[key]; ok {
			return sameLines(f, before, text)
		}
		if s.of == nil || len(s.of) == maxShown {
			s.of = map[string]report.Failure{}
		}
		s.of[key] = f
	}
	lines := make([]string, len(text))
	for i, l := range text {
		lines[i] = "  | " + l
	}
	return lines
}
