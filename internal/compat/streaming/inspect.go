package streaming

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	archives "berth/internal/sys/archive"
)

// inputNames are texts in programs that ask for the name of their input file, or that compose the name of the
// variable. Such a program must get one file at a time, as in Hadoop.
var inputNames = []string{"map_input", "map.input", "_input_file", ".input.file"}

// Bounds of the search, as scripts are small.
const (
	maxScript  = 1 << 20 // bytes of a file
	maxScripts = 1000    // files in a shipped folder or archive
)

// asksInputName reports whether the mapper asks for the name of its input file: in its command, in a script that
// the command names, or in a shipped script, which may be in an archive or in a zip file of modules.
func (b *builder) asksInputName() bool {
	if mentionsInput([]byte(strings.Join(b.mr.Mapper.Args, " "))) {
		return true
	}
	for _, word := range b.mr.Mapper.Args {
		if filepath.IsAbs(word) && scriptMentionsInput(word) {
			return true
		}
	}
	for _, f := range b.mr.Files {
		if f.Archive && archiveMentionsInput(f.Path, archives.Walk) || !f.Archive && treeMentionsInput(f.Path) {
			return true
		}
	}
	return false
}

// treeMentionsInput searches a file, or the files of a folder, for inputNames.
func treeMentionsInput(root string) bool {
	found, looked := false, 0
	//nolint:errcheck // what cannot be read mentions nothing, and shipping tells of it
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || looked >= maxScripts:
			return fs.SkipAll
		case d.IsDir():
			return nil
		}
		looked++
		if scriptMentionsInput(path) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// archiveMentionsInput searches the files of an archive for inputNames.
func archiveMentionsInput(path string, walk func(string, func(string, io.Reader) bool) error) bool {
	found, looked := false, 0
	//nolint:errcheck // what cannot be read mentions nothing, and unpacking tells of it
	walk(path, func(_ string, in io.Reader) bool {
		looked++
		data, err := io.ReadAll(io.LimitReader(in, maxScript))
		found = err == nil && textMentionsInput(data)
		return !found && looked < maxScripts
	})
	return found
}

// moduleSuffixes are the suffixes of zip files with Python modules.
var moduleSuffixes = []string{".zip", ".egg", ".pyz", ".whl"}

// scriptMentionsInput searches the beginning of a text file, or of the files in a zip file of modules, for
// inputNames.
func scriptMentionsInput(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	if slices.Contains(moduleSuffixes, strings.ToLower(filepath.Ext(path))) {
		return archiveMentionsInput(path, archives.WalkZip)
	}
	data, err := readHead(path, maxScript)
	return err == nil && textMentionsInput(data)
}

func textMentionsInput(data []byte) bool { return bytes.IndexByte(data, 0) < 0 && mentionsInput(data) }

func mentionsInput(text []byte) bool {
	return slices.ContainsFunc(inputNames, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}
