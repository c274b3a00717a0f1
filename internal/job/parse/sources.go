package parse

import (
	"fmt"
	"regexp"
	"strings"

	"berth/internal/job"
)

// BagSources says where a bag's entries come from: one of EachLine, Array, Lists
// and Entries; none of them means standard input.
type BagSources struct {
	EachLine string      // file with an entry on each line; "-" is standard input
	Array    *Indices    // indices
	Lists    []List      // ::: and :::: lists, combined
	Entries  []job.Entry // from a job file

	Null      bool // entries of a file end in NUL, not in a line's end
	SkipEmpty bool // empty entries are left out, and no entries at all are no error

	Columns *regexp.Regexp // separates the columns of an entry; nil: an entry is one column

	Where string // flag or file:line of the source, for errors
}

// List is one list of values of a bag: given on the command line, or a file's lines.
type List struct {
	Values []string
	File   string // "-" is standard input; empty: Values
	Linked bool   // runs along with the list before it, instead of against it
}

// SplitLists parts a command line into the command and the lists after it, as GNU
// parallel has them: ::: values, :::: files, and with a + linked to the list before.
func SplitLists(words []string) (command []string, lists []List, err error) {
	command = words
	for i, w := range words {
		if !isListMark(w) {
			continue
		}
		if len(lists) == 0 {
			command = words[:i]
			if strings.HasSuffix(w, "+") {
				return nil, nil, job.ArgumentError(w, "there is no list before it to go along with", "begin with "+strings.TrimSuffix(w, "+"))
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

// makeLists makes one list of values, or a list for each file.
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

// Combine makes entries of lists: every value of one with every value of the
// others, the last list varying fastest. A linked list runs along with the one
// before it; the shorter of the two ends both.
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
			return nil, job.ArgumentError(":::", fmt.Sprintf("the lists make more than %d tasks", MaxEntries), "make them shorter")
		}
		rows = cross(rows, lists[i:group], length)
		i = group
	}
	return rows, nil
}

// cross puts the first length values of linked lists behind each row.
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

// SplitLines parts text into its lines, or at NULs. Empty lines count, as with GNU
// parallel; a last line without an end counts too. A line may end in CR LF: the CR
// is dropped, as no command means it. The lines share text's memory.
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

// Check refuses more than one source.
func (s *BagSources) Check() error {
	var given []string
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
			given = append(given, source.name)
		}
	}
	if len(given) > 1 {
		return job.ArgumentError(s.Where, "entries come from "+strings.Join(given, " and from "), "keep one of them")
	}
	return nil
}

// CheckEntries checks that there are entries and that the command asks for no column
// they do not have.
func (s *BagSources) CheckEntries(b *job.BagSpec, entries []job.Entry) error {
	if len(entries) == 0 {
		if s.SkipEmpty {
			return nil
		}
		return &job.Error{
			Class: job.User, Code: job.CodeNoInput, Where: s.Where, What: "there is no entry, so there is nothing to run",
			Do: "give entries, --array 1 for a single task, or --no-run-if-empty where that is well",
		}
	}
	if len(entries) > MaxEntries {
		return job.ArgumentError(s.Where, fmt.Sprintf("%d entries are more than %d", len(entries), MaxEntries), "make several jobs of them")
	}
	if n, most := b.MaxColumn(), widest(entries); n > most {
		return job.ArgumentError("command", fmt.Sprintf("it asks for column %d, but entries have %d", n, most), "number the columns from 1")
	}
	if file, tasks, shared := b.SharedOutput("", entries); shared {
		return job.ArgumentError(s.Where, fmt.Sprintf("tasks %d and %d would both write %s", tasks[0]+1, tasks[1]+1, file), "put {task} or {#} into the name")
	}
	return nil
}

// widest returns the most columns that an entry has.
func widest(entries []job.Entry) (most int) {
	for _, e := range entries {
		most = max(most, len(e))
	}
	return most
}

// Split parts each entry into its columns where Columns says how, without white space around them, as GNU parallel's --colsep does.
func (s *BagSources) Split(entries []job.Entry) []job.Entry {
	if s.Columns == nil {
		return entries
	}
	parted := make([]job.Entry, len(entries))
	for i, e := range entries {
		for _, value := range e {
			for _, column := range s.Columns.Split(value, -1) {
				parted[i] = append(parted[i], strings.TrimSpace(column))
			}
		}
	}
	return parted
}

// Prune leaves out empty entries where SkipEmpty asks for it.
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
