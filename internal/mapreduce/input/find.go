package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"berth/internal/job"
)

// inputFile is a file of a job's input.
type inputFile struct {
	path   string
	size   int64
	packed bool // compressed: read as a whole
}

// finder collects the files that a job's inputs name.
type finder struct {
	recursive  bool     // into folders below input folders
	ignoreDirs bool     // else: pass over them instead of refusing them
	binary     bool     // no file is taken for compressed by its name: the format itself compresses
	include    []string // globs for the names of files in folders; empty: all
	files      []inputFile
	skipped    int
}

// Job keys on folders below input folders. Hadoop refuses such folders unless the
// first key is true. Here it is by default, as whoever names a source tree means
// what is in it; false brings Hadoop's behaviour back. So does the second key, by itself:
// it passes over such folders.
const (
	recursiveKey    = "mapreduce.input.fileinputformat.input.dir.recursive"
	oldRecursiveKey = "mapred.input.dir.recursive"
	ignoreDirsKey   = "mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs"
)

// IncludeKey is the job key that says which files of input folders are taken: globs
// for their names, with commas between. It is berth's own. Files that are named, or
// matched by a glob in -input, are taken anyhow.
const IncludeKey = "berth.input.include"

// ParseInclude parts the value of IncludeKey into globs (path.Match).
func ParseInclude(list string) ([]string, error) {
	var globs []string
	for glob := range strings.SplitSeq(list, ",") {
		if glob = strings.TrimSpace(glob); glob == "" {
			continue
		}
		if _, err := path.Match(glob, ""); err != nil || strings.Contains(glob, "/") {
			return nil, &job.Error{
				Class: job.User, Code: job.CodeConfig, Where: IncludeKey,
				What: fmt.Sprintf("%q is no glob for the name of a file", glob), Do: "write it like *.txt, with commas between several",
			}
		}
		globs = append(globs, glob)
	}
	return globs, nil
}

// packed reports whether a file is compressed as a whole, by its name.
func (f *finder) packed(name string) bool { return !f.binary && codecOf(name) != nil }

// included reports whether a file of that name in an input folder is taken.
func (f *finder) included(name string) bool {
	return len(f.include) == 0 || slices.ContainsFunc(f.include, func(glob string) bool {
		match, _ := path.Match(glob, name) // the glob was checked
		return match
	})
}

// findInputs returns the input files in the order of their paths. A file that two
// inputs name is there twice, as in Hadoop; of folders without files there are none.
func findInputs(spec *job.MapReduceSpec, opts SplitOptions) (*finder, error) {
	f := &finder{ignoreDirs: strings.EqualFold(spec.Conf[ignoreDirsKey], "true"), binary: isSequence(spec)}
	if recursive := cmp.Or(spec.Conf[recursiveKey], spec.Conf[oldRecursiveKey]); recursive == "" {
		f.recursive = !f.ignoreDirs
	} else {
		f.recursive = !strings.EqualFold(recursive, "false")
	}
	var err error
	if f.include, err = ParseInclude(spec.Conf[IncludeKey]); err != nil {
		return nil, err
	}
	for _, input := range spec.Inputs {
		add := f.add
		if job.IsObject(input) {
			add = func(name string) error { return f.addObjects(name, opts) }
		}
		if err := add(input); err != nil {
			return nil, err
		}
	}
	switch {
	case len(spec.Inputs) == 0:
		return nil, noInput("-input", "no input is named")
	case len(f.files) == 0 && len(f.include) > 0: // likely a mistake in the key
		return nil, &job.Error{
			Class: job.User, Code: job.CodeNoInput, Where: "-input",
			What: "no files that " + IncludeKey + " takes in " + strings.Join(spec.Inputs, ", "), Do: "name files or folders that hold some",
		}
	}
	slices.SortStableFunc(f.files, func(a, b inputFile) int { return strings.Compare(a.path, b.path) })
	return f, nil
}

// add adds what one input names: a file or folder of exactly that name, else what
// matches it as a glob.
func (f *finder) add(input string) error {
	info, err := os.Stat(input)
	if err == nil {
		return f.addPath(input, info, nil)
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENAMETOOLONG) {
		return inputError(input, err)
	}
	if !strings.ContainsAny(input, `*?[{`) {
		return noInput(input, "input does not exist")
	}
	paths, err := globInput(input)
	if err != nil {
		return noInput(input, "input is no valid glob")
	}
	if len(paths) == 0 {
		return noInput(input, "input matches nothing")
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return inputError(path, err)
		}
		if err := f.addPath(path, info, nil); err != nil {
			return err
		}
	}
	return nil
}

func noInput(input, what string) error {
	return &job.Error{
		Class: job.User, Code: job.CodeNoInput, Where: input, What: what, Do: "check the path",
	}
}

// addPath adds a file, or the files of a folder. above are the folders it was
// reached through, to see links that lead in circles.
func (f *finder) addPath(path string, info fs.FileInfo, above []fs.FileInfo) error {
	switch {
	case info.IsDir():
		return f.addDir(path, append(above, info))
	case !info.Mode().IsRegular() && above != nil:
		f.skipped++ // sockets and devices lie about in folders
		return nil
	case !info.Mode().IsRegular():
		return &job.Error{
			Class: job.User, Code: job.CodeNoInput, Where: path, What: "is no regular file",
			Do: "write its data to a file first",
		}
	}
	if err := syscall.Access(path, accessRead); err != nil {
		return inputError(path, err)
	}
	f.files = append(f.files, inputFile{path: path, size: info.Size(), packed: f.packed(path)})
	return nil
}

// accessRead is access(2)'s R_OK.
const accessRead = 4

// addDir adds the files of a folder whose names do not begin with '_' or '.', and
// are included.
func (f *finder) addDir(dir string, above []fs.FileInfo) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return inputError(dir, err)
	}
	for _, entry := range entries {
		if hidden(entry.Name()) || entry.Type().IsRegular() && !f.included(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path) // follows links
		if !f.included(entry.Name()) && (err != nil || !info.IsDir()) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && entry.Type()&fs.ModeSymlink != 0 {
			return &job.Error{Class: job.User, Code: job.CodeIO, Where: path, What: "is a link that leads nowhere",
				Do: "mend or remove it, or leave it out with " + IncludeKey}
		}
		if err != nil {
			return inputError(path, err)
		}
		if info.IsDir() {
			skip, err := f.skipDir(path, info, above)
			if err != nil {
				return err
			}
			if skip {
				continue
			}
		}
		if err := f.addPath(path, info, above); err != nil {
			return err
		}
	}
	return nil
}

// skipDir says whether a folder below an input folder is passed over.
func (f *finder) skipDir(path string, info fs.FileInfo, above []fs.FileInfo) (bool, error) {
	if !f.recursive {
		if f.ignoreDirs {
			return true, nil
		}
		return false, &job.Error{
			Class: job.User, Code: job.CodeNoInput, Where: path,
			What: "is a folder in an input folder, and " + recursiveKey + " is false",
			Do:   "set it to true, or name files",
		}
	}
	for _, a := range above {
		if os.SameFile(a, info) {
			f.skipped++ // a link upwards holds nothing that was not seen
			return true, nil
		}
	}
	return false, nil
}

// hidden reports whether folders are listed without that name: Hadoop's rule for
// job markers such as _SUCCESS and for hidden files.
func hidden(name string) bool { return name[0] == '_' || name[0] == '.' }

// globInput returns the paths that match a Hadoop glob: *, ?, [a-z], [^a-z], \ before
// a special character, and {a,b}. Names that are hidden match only patterns that
// begin alike.
func globInput(pattern string) ([]string, error) {
	patterns, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if name := filepath.Base(path); !hidden(name) || filepath.Base(p)[0] == name[0] {
				found = append(found, path)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// maxPatterns bounds what braces may expand to.
const maxPatterns = 10_000

// expandBraces replaces each {a,b,…} by its alternatives.
func expandBraces(pattern string) ([]string, error) {
	open, closed, commas := outerBraces(pattern)
	if open < 0 {
		return []string{pattern}, nil
	}
	if closed < 0 {
		return nil, filepath.ErrBadPattern
	}
	var all []string
	from := open + 1
	for _, to := range append(commas, closed) {
		rest, err := expandBraces(pattern[:open] + pattern[from:to] + pattern[closed+1:])
		if err != nil {
			return nil, err
		}
		if all = append(all, rest...); len(all) > maxPatterns {
			return nil, fmt.Errorf("%w: more than %d alternatives", filepath.ErrBadPattern, maxPatterns)
		}
		from = to + 1
	}
	return all, nil
}

// outerBraces finds the first '{' outside brackets, its '}' and the commas between
// that are its own; −1 for what is missing.
func outerBraces(p string) (open, closed int, commas []int) {
	open, closed = -1, -1
	depth, bracket := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case bracket:
			bracket = c != ']'
		case c == '[':
			bracket = true
		case c == '{':
			if depth++; depth == 1 {
				open = i
			}
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, commas
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		}
	}
	return open, closed, commas
}
