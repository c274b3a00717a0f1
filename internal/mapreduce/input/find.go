package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// inputFile is a file of a job's input.
type inputFile struct {
	job.Range      // without offset and length
	packed    bool // the whole file is compressed
}

// finder collects the files that a job's inputs name.
type finder struct {
	recursive  bool     // read folders below input folders
	ignoreDirs bool     // if not recursive: skip such folders instead of refusing them
	binary     bool     // ignore the suffixes of codecs, as the format itself compresses
	include    []string // globs for the names of files in folders; empty: all
	files      []inputFile
	skipped    int
	numbered   map[uint64]bool // the file systems, by their devices, whose inode numbers stay
}

// These job keys are about folders below input folders. Hadoop refuses such folders unless the first key
// is true. berth reads them by default, as a user who names a source tree means all files in it; if the
// key is false, berth refuses them too. The second key alone makes berth skip such folders.
const (
	recursiveKey  = "mapreduce.input.fileinputformat.input.dir.recursive"
	ignoreDirsKey = "mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs"
)

// IncludeKey is the job key that selects the files of input folders: globs for their names, separated by
// commas. Hadoop does not have it. Files that -input names, or that match a glob in -input, are always
// read.
const IncludeKey = "berth.input.include"

// ParseInclude splits the value of IncludeKey into globs (path.Match).
func ParseInclude(list string) ([]string, error) {
	var globs []string
	for glob := range strings.SplitSeq(list, ",") {
		if glob = strings.TrimSpace(glob); glob == "" {
			continue
		}
		if _, err := path.Match(glob, ""); err != nil || strings.Contains(glob, "/") {
			return nil, job.ConfigError(IncludeKey, fmt.Sprintf("%q is not a valid glob for the name of a file", glob), "write globs like *.txt, separated by commas")
		}
		globs = append(globs, glob)
	}
	return globs, nil
}

// packed reports whether a whole file is compressed, by its suffix.
func (f *finder) packed(name string) bool { return !f.binary && codecOf(name) != nil }

// included reports whether a file with this name in an input folder is selected.
func (f *finder) included(name string) bool {
	return len(f.include) == 0 || slices.ContainsFunc(f.include, func(glob string) bool {
		match, _ := path.Match(glob, name) // ParseInclude has checked the glob
		return match
	})
}

// findInputs returns the input files in the order of their paths. A file that two inputs name occurs twice,
// as in Hadoop.
func findInputs(spec *job.MapReduceSpec, opts SplitOptions) (*finder, error) {
	f := &finder{ignoreDirs: strings.EqualFold(spec.Conf[ignoreDirsKey], "true"), binary: isSequence(spec)}
	if recursive := spec.Conf[recursiveKey]; recursive == "" {
		f.recursive = !f.ignoreDirs
	} else {
		f.recursive = !strings.EqualFold(recursive, "false")
	}
	var err error
	if f.include, err = ParseInclude(spec.Conf[IncludeKey]); err != nil {
		return nil, err
	}
	for _, input := range spec.Inputs {
		if job.IsObject(input) {
			err = f.addObjects(input, opts)
		} else {
			err = f.add(input)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(spec.Inputs) == 0:
		return nil, noInput("-input", "no input is named")
	case len(f.files) == 0 && len(f.include) > 0: // likely a mistake in the key
		return nil, job.InputError("-input", IncludeKey+" matches no file in "+strings.Join(spec.Inputs, ", "), "name files or folders that contain matching files")
	}
	slices.SortStableFunc(f.files, func(a, b inputFile) int { return strings.Compare(a.Path, b.Path) })
	return f, nil
}

// add adds what an input names: the file or folder of exactly this name, or otherwise the paths that match
// it as a glob.
func (f *finder) add(input string) error {
	paths := []string{input}
	if _, err := os.Stat(input); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
		if !strings.ContainsAny(input, `*?[{`) {
			return noInput(input, "input does not exist")
		}
		if paths, err = globInput(input); err != nil {
			return noInput(input, "input is not a valid pattern")
		}
		if len(paths) == 0 {
			return noInput(input, "input matches nothing")
		}
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
	return job.InputError(input, what, "check the path")
}

// addPath adds a file, or the files of a folder. above are the folders on the way to it, which are needed
// to detect links in a circle.
func (f *finder) addPath(path string, info fs.FileInfo, above []fs.FileInfo) error {
	switch {
	case info.IsDir():
		return f.addDir(path, append(above, info))
	case !info.Mode().IsRegular() && above != nil:
		f.skipped++ // a folder may contain sockets and devices
		return nil
	case !info.Mode().IsRegular():
		return job.InputError(path, "is not a regular file", "write its data to a file first")
	}
	if err := unix.Access(path, unix.R_OK); err != nil {
		return inputError(path, err)
	}
	info, err := renewed(path, info)
	if err != nil {
		return inputError(path, err)
	}
	r := job.Range{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano(), Inode: f.inode(path, info)}
	f.files = append(f.files, inputFile{r, f.packed(path)})
	return nil
}

// remembered is how long a host may remember the attributes of a file on a network file system.
const remembered = 2 * time.Minute

// renewed returns the present attributes of a file. A file that was modified lately is opened, as a host asks the server then.
func renewed(path string, info fs.FileInfo) (fs.FileInfo, error) {
	if time.Since(info.ModTime()) > remembered {
		return info, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it is not even read
	return file.Stat()
}

// addDir adds the selected files of a folder whose names do not begin with '_' or '.'.
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
			return job.IOError(job.User, path, "is a link to a file that does not exist", nil).Advice("correct or remove it, or exclude it with " + IncludeKey)
		}
		if err != nil {
			return inputError(path, err)
		}
		if info.IsDir() {
			read, err := f.readsFolder(path)
			if err != nil {
				return err
			}
			if !read {
				continue
			}
			if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
				f.skipped++ // the link leads to a folder that is being read
				continue
			}
		}
		if err := f.addPath(path, info, above); err != nil {
			return err
		}
	}
	return nil
}

// readsFolder reports whether the folders below input folders are read. It returns an error if they are refused.
func (f *finder) readsFolder(path string) (bool, error) {
	if f.recursive || f.ignoreDirs {
		return f.recursive, nil
	}
	return false, job.InputError(path, "is a folder in an input folder, and "+recursiveKey+" is false", "set it to true, or name files")
}

// hidden reports whether a file with this name is ignored in folders. It is Hadoop's rule for job markers
// such as _SUCCESS and for hidden files.
func hidden(name string) bool { return name[0] == '_' || name[0] == '.' }

// globInput returns the paths that match a Hadoop glob: *, ?, [a-z], [^a-z], \ before a special character,
// and {a,b}. A hidden name matches only a pattern that begins with the same character.
func globInput(input string) ([]string, error) {
	patterns, err := pattern.Braces(input)
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
