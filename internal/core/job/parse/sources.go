package parse

import (
	"fmt"
	"regexp"
	"strings"

	"berth/internal/core/job"
)

// BagSources says where a bag's entries come from: one of EachLine, Array, Lists
// and Entries; none of them means standard input.
type BagSources struct {
	EachLine string      // file with an entry on each line; "-" is standard input
	Array    *Indices    // indices
	Lists    []List      // ::: and :::: lists, combined
	Entries  []job.Entry // from a job file

	Null      bool // entries of a file end with NUL instead of a line end
	Append    bool // the entry may be appended to the last of several commands
	SkipEmpty bool // empty entries are skipped, and it is no error if none is left

	Columns *regexp.Regexp     // separates the columns of an entry; nil: an entry is one column
	needs   [len(Needs)]string // columns with the needs of tasks, as the user names them

	Where string // flag or file:line of the source, for errors
}

// List is one list of values of a bag: given on the command line, or a file's lines.
type List struct {
	Values []string
	File   string // "-" is standard input; empty: Values
	Linked bool   // its values are paired with those of the list before it, instead of combined with all of them
}

// SplitLists splits a command line into the command and the lists after it, in the syntax of GNU
// parallel: ::: for values, :::: for files, and a final + links a list to the one before it.
func SplitLists(words []string) (command []string, lists []List, err error) {
	command = words
	for i, w := range words {
		if !isListMark(w) {
			continue
		}
		if len(lists) == 0 {
			command = words[:i]
			if strings.HasSuffix(w, "+") {
				return nil, nil, job.ArgumentError(w, "there is no list before it to which it could be linked", "begin with "+strings.TrimSuffix(w, "+"))
			}
		}
		end := i + 1
		for end < len(words) && !isListMark(words[end]) {
			end++
		}
		lists = append(lists, makeLists(w, words[i+1:end])...)
	}
	return command, lists, nil
}

func isListMark(w string) bool { return w == ":::" || w == ":::+" || w == "::::" || w == "::::+" }

// makeLists returns one list of values, or one list for each file.
func makeLists(mark string, words []string) []List {
	linked := strings.HasSuffix(mark, "+")
	if !strings.HasPrefix(mark, "::::") {
		return []List{{Values: words, Linked: linked}}
	}
	lists := make([]List, len(words))
	for i, w := range words {
		lists[i] = List{File: w, Linked: linked}
	}
	return lists
}

// Combine returns the entries that lists describe: each value of one list with each value of
// the others. The last list varies fastest. The values of a linked list are paired with those
// of the list before it, up to the length of the shorter one.
func Combine(lists []List) ([]job.Entry, error) {
	rows := []job.Entry{{}}
	for i := 0; i < len(lists); {
		group := i + 1
		length := len(lists[i].Values)
		for group < len(lists) && lists[group].Linked {
			length = min(length, len(lists[group].Values))
			group++
		}
		if length > 0 && len(rows) > MaxEntries/length {
			return nil, job.ArgumentError(":::", fmt.Sprintf("the lists make more than %d tasks", MaxEntries), "shorten the lists")
		}
		rows = cross(rows, lists[i:group], length)
		i = group
	}
	return rows, nil
}

// cross appends the first length values of linked lists to each row.
func cross(rows []job.Entry, group []List, length int) []job.Entry {
	crossed := make([]job.Entry, 0, len(rows)*length)
	for _, row := range rows {
		for n := range length {
			entry := make(job.Entry, 0, len(row)+len(group))
			entry = append(entry, row...)
			for _, l := range group {
				entry = append(entry, l.Values[n])
			}
			crossed = append(crossed, entry)
		}
	}
	return crossed
}

// SplitLines splits text into its lines, or at NUL characters. It returns empty lines too, as GNU
// parallel does, and a last line without a line end. A line may end with CR LF: the CR is removed,
// as no command expects it. The lines share the memory of text.
func SplitLines(text string, null bool) []string {
	end := "\n"
	if null {
		end = "\x00"
	}
	lines := make([]string, 0, strings.Count(text, end)+1)
	for text != "" {
		line, rest, _ := strings.Cut(text, end)
		if !null {
			line = strings.TrimSuffix(line, "\r")
		}
		lines = append(lines, line)
		text = rest
	}
	return lines
}

// given returns the names of the sources that are named.
func (s *BagSources) given() (names []string) {
	for _, source := range []struct {
		name string
		set  bool
	}{
		{"each-line", s.EachLine != ""},
		{"array", s.Array != nil},
		{":::", len(s.Lists) > 0},
		{"entries", s.Entries != nil},
	} {
		if source.set {
			names = append(names, source.name)
		}
	}
	return names
}

// Check refuses several sources.
func (s *BagSources) Check() error {
	if given := s.given(); len(given) > 1 {
		return job.ArgumentError(s.Where, "entries come from "+strings.Join(given, " and from "), "keep one of them")
	}
	return nil
}

// None reports whether no source is named.
func (s *BagSources) None() bool { return len(s.given()) == 0 }

// CheckEntries checks that there are entries, and that they have every column that the
// command names.
func (s *BagSources) CheckEntries(b *job.BagSpec, entries []job.Entry) error {
	if len(entries) == 0 {
		if s.SkipEmpty || b.Open {
			return nil
		}
		return job.InputError(s.Where, "there is no entry, so there is nothing to run", "give entries, --array 1 for a single task, or --no-run-if-empty if no entry is not an error")
	}
	if len(entries) > MaxEntries {
		return job.ArgumentError(s.Where, fmt.Sprintf("there are %d entries, but a job may have %d at most", len(entries), MaxEntries), "divide them among several jobs")
	}
	if err := CheckColumns(b, widest(entries)); err != nil {
		return err
	}
	if file, tasks, shared := b.SharedOutput("", entries); shared {
		return job.ArgumentError(s.Where, fmt.Sprintf("tasks %d and %d would both write %s", tasks[0]+1, tasks[1]+1, file), "put {task} or {#} into the name")
	}
	return nil
}

// CheckColumns returns an error if a bag's command names a column that no entry has.
func CheckColumns(b *job.BagSpec, most int) error {
	if n := b.MaxColumn(); n > most {
		return job.ArgumentError("command", fmt.Sprintf("it names column %d, but the entries have %d", n, most),
			"number the columns from 1; if the braces are no placeholder, choose another one, as in -I @")
	}
	return nil
}

// widest returns the largest number of columns of an entry.
func widest(entries []job.Entry) (most int) {
	for _, e := range entries {
		most = max(most, len(e))
	}
	return most
}

// Split splits each entry into columns at Columns, if it is set. As with --colsep of GNU parallel, white space around a column is removed.
func (s *BagSources) Split(entries []job.Entry) []job.Entry {
	if s.Columns == nil {
		return entries
	}
	divided := make([]job.Entry, len(entries))
	for i, e := range entries {
		for _, value := range e {
			for _, column := range s.Columns.Split(value, -1) {
				divided[i] = append(divided[i], strings.TrimSpace(column))
			}
		}
	}
	return divided
}

// Prune removes empty entries if SkipEmpty is set.
func (s *BagSources) Prune(entries []job.Entry) []job.Entry {
	if !s.SkipEmpty {
		return entries
	}
	kept := entries[:0:0]
	for _, e := range entries {
		if strings.TrimSpace(strings.Join(e, "")) != "" {
			kept = append(kept, e)
		}
	}
	return kept
}
