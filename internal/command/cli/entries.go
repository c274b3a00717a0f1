package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
		return s.Array.Entries(), nil
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
		return slurp(r.stdin, "standard input", 0)
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", readError(where, name, err)
	}
	defer file.Close() // only read
	var size int64
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return slurp(file, name, size)
}

// slurp reads all of r, whose size is known or 0, without holding it twice.
func slurp(r io.Reader, name string, size int64) (string, error) {
	var b strings.Builder
	b.Grow(int(min(size, 1<<30)))
	if _, err := io.Copy(&b, r); err != nil {
		return "", readError("", name, err)
	}
	return b.String(), nil
}

func readError(where, name string, err error) error {
	e := &job.Error{Class: job.User, Code: job.CodeIO, Where: where, What: "cannot read " + name, Err: err, Do: "check the path"}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = job.CodeNoInput
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Err = path.Err // the path is told already
	}
	return e
}
