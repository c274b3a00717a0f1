package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// entryReader reads files of entries for a user who stands in dir.
type entryReader struct {
	dir   string
	null  bool
	stdin io.Reader // nil: a terminal, or read already
	used  bool      // stdin was read
}

// readEntries reads a bag's entries from where its sources say.
func readEntries(s *parse.BagSources, dir string, stdin io.Reader) ([]job.Entry, error) {
	r := &entryReader{dir: dir, null: s.Null, stdin: stdin}
	switch {
	case s.Array != nil:
		entries := s.Array.Entries()
		s.Array.Numbers = nil // there may be millions
		return entries, nil
	case s.Entries != nil:
		return s.Entries, nil
	case len(s.Lists) > 0:
		return r.lists(s.Lists)
	case s.EachLine != "":
		values, err := r.lines(s.Where, s.EachLine)
		return parse.OneColumn(values), err
	case stdin == nil:
		return nil, job.ArgumentError("", "there are no entries to run the command for", "give --each-line FILE, --array INDICES, ::: VALUES, or pipe lines in")
	default:
		s.Where = "standard input"
		values, err := r.lines("", "-")
		return parse.OneColumn(values), err
	}
}

// lists reads the files among the lists and combines all.
func (r *entryReader) lists(lists []parse.List) ([]job.Entry, error) {
	read := make([]parse.List, len(lists))
	for i, l := range lists {
		read[i] = l
		if l.File != "" {
			values, err := r.lines("lists", l.File)
			if err != nil {
				return nil, err
			}
			read[i].Values = values
		}
	}
	return parse.Combine(read)
}

// lines reads the entries of a file, "-" being standard input.
func (r *entryReader) lines(where, name string) ([]string, error) {
	text, err := r.text(where, name)
	if err != nil {
		return nil, err
	}
	if !r.null {
		if i := strings.IndexByte(text, 0); i >= 0 {
			if name == "-" {
				name = "standard input"
			}
			line := 1 + strings.Count(text[:i], "\n")
			return nil, job.ArgumentError(fmt.Sprintf("%s:%d", name, line), "the line has a NUL, which no argument can have", "use --null where entries end in NUL")
		}
	}
	return parse.SplitLines(text, r.null), nil
}

// text reads a whole file; the lines made of it share its memory.
func (r *entryReader) text(where, name string) (string, error) {
	if name == "-" {
		if r.stdin == nil || r.used {
			what := "standard input is a terminal"
			if r.used {
				what = "standard input can be read but once"
			}
			return "", job.ArgumentError(where, what, "name a file or pipe lines in")
		}
		r.used = true
		return r.slurp(r.stdin, "standard input", 0)
	}
	file, err := os.Open(below(r.dir, name))
	if err != nil {
		return "", readError(where, name, err)
	}
	defer file.Close() // only read
	var size int64
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return r.slurp(file, name, size)
}

// slurp reads all of a file, whose size is known or 0, without holding it twice. It stops behind what cannot be entries, as /dev/zero has no end.
func (r *entryReader) slurp(file io.Reader, name string, size int64) (string, error) {
	text := entryText{end: '\n'}
	if r.null {
		text.end = 0
	}
	text.Grow(int(min(size, 1<<30)))
	if _, err := io.Copy(&text, file); err != nil && !errors.Is(err, errNUL) {
		return "", readError("", name, err)
	}
	return text.String(), nil
}

// entryText is the text of a file of entries. Write returns an error once it cannot be one.
type entryText struct {
	strings.Builder
	end     byte // of an entry
	entries int
	length  int // of the last entry
}

// longestEntry is more than Linux lets the arguments of a program have together.
const longestEntry = 8 << 20

var (
	errNUL     = errors.New("it has a NUL")
	errLong    = fmt.Errorf("an entry is longer than %d bytes, which no command can be given", longestEntry)
	errEntries = fmt.Errorf("it has more than %d entries, the most that a job may have", parse.MaxEntries)
)

func (t *entryText) Write(p []byte) (int, error) {
	n, _ := t.Builder.Write(p) // it returns no error
	t.entries += bytes.Count(p, []byte{t.end})
	if i := bytes.LastIndexByte(p, t.end); i >= 0 {
		t.length, p = 0, p[i+1:]
	}
	t.length += len(p)
	switch {
	case t.end != 0 && strings.IndexByte(t.String()[t.Len()-n:], 0) >= 0:
		return n, errNUL // which the reader of lines tells
	case t.length > longestEntry:
		return n, errLong
	case t.entries > parse.MaxEntries:
		return n, errEntries
	}
	return n, nil
}

func readError(where, name string, err error) error {
	e := job.IOError(job.User, where, "cannot read "+name, err).Advice("check the path")
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = job.CodeNoInput
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Err = path.Err // the path is told already
	}
	return e
}
