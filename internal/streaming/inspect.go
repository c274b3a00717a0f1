package streaming

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// inputNames are what a program that wants to know its input file mentions. Such a
// program must be given one file at a time, as Hadoop does.
var inputNames = []string{"map_input_file", "map.input.file", "map_input_start", "map.input.start", "map_input_length", "map.input.length"}

// Bounds on what is looked through: scripts are small.
const (
	maxScript  = 1 << 20 // bytes of a file
	maxScripts = 1000    // files in shipped folders
)

// asksInputName reports whether the mapper asks for the name of its input file: in
// its command, in a script that the command names, or in a shipped script.
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
		if !f.Archive && treeMentionsInput(f.Path) {
			return true
		}
	}
	return false
}

// treeMentionsInput looks through a file, or the files of a folder.
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

// scriptMentionsInput looks through the beginning of a file, if it is text.
func scriptMentionsInput(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() // only read
	data, err := io.ReadAll(io.LimitReader(file, maxScript))
	return err == nil && bytes.IndexByte(data, 0) < 0 && mentionsInput(data)
}

func mentionsInput(text []byte) bool {
	for _, name := range inputNames {
		if bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}
