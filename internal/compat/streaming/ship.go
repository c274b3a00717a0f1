package streaming

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/compat/dfs"
	"berth/internal/core/job"
	archives "berth/internal/sys/archive"
)

// localPath returns the path of a file that is given as a path or a URI, and its name after a #.
func (b *builder) localPath(where, uri string) (file, name string, err error) {
	file, name, _ = strings.Cut(uri, "#")
	if hasScheme(file) {
		root, _ := job.LookupEnv(b.env, dfs.RootVar)
		local, err := dfs.Path(file, root)
		switch {
		case errors.Is(err, dfs.ErrElsewhere) || err == nil && local == file:
			return "", "", job.ConfigError(where, fmt.Sprintf("%q is not on a file system of this machine", uri), "copy it here first")
		case err != nil:
			return "", "", job.ConfigError(where, fmt.Sprintf("%q is not a valid URI", uri), "write a path")
		}
		file = local
	}
	if file == "" {
		return "", "", job.ConfigError(where, fmt.Sprintf("%q names no file", uri), "write a path")
	}
	return filepath.Clean(b.abs(file)), name, nil
}

// abs makes a path absolute, which is relative to the user's folder.
func (b *builder) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.dir, path)
}

// hasScheme reports whether a path is a URI with a scheme, and not a file whose name has a colon.
func hasScheme(path string) bool {
	scheme, _, ok := strings.Cut(path, ":")
	return ok && slices.Contains(strings.Fields("file hdfs webhdfs hftp har s3 s3a s3n gs abfs wasb viewfs http https ftp"), scheme)
}

// ship ships a file that a flag names.
func (b *builder) ship(where, uri string, archive bool) error {
	file, name, err := b.localPath(where, uri)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return job.ConfigError(where, "cannot ship", "check the path").Because(err)
	}
	if archive && !info.Mode().IsRegular() {
		return job.ConfigError(where, file+" is not a file, so it is not an archive", "use -files for folders")
	}
	if archive {
		if err := archives.Check(file); err != nil {
			return job.ConfigError(where, file+" cannot be unpacked", "check it with tar -tf or unzip -l; -files ships a file as it is").Because(err)
		}
	}
	if name == "" {
		name = path.Base(file)
	}
	return b.addFile(where, job.ShipFile{Path: file, Name: path.Clean(name), Archive: archive})
}

// addFile adds a shipped file once. Two files with the same name are an error.
func (b *builder) addFile(where string, f job.ShipFile) error {
	if !filepath.IsLocal(f.Name) || f.Name == "." {
		return job.ConfigError(where, fmt.Sprintf("%q is not a name below a task's folder", f.Name), "write PATH#NAME")
	}
	for _, other := range b.mr.Files {
		if other.Name != f.Name {
			continue
		}
		if other == f {
			return nil
		}
		return job.ConfigError(where, fmt.Sprintf("%s and %s would both be called %q", other.Path, f.Path, f.Name), "rename one: "+f.Path+"#NAME")
	}
	if err := unix.Access(f.Path, unix.R_OK); err != nil {
		return job.ConfigError(where, f.Path+" cannot be read, so not be shipped", "make it readable").Because(err)
	}
	b.mr.Files = append(b.mr.Files, f)
	return nil
}

// shipped reports whether a path in a task's folder will exist.
func (b *builder) shipped(name string) bool {
	return slices.ContainsFunc(b.mr.Files, func(f job.ShipFile) bool {
		return f.Name == name || strings.HasPrefix(name, f.Name+"/")
	})
}

// shipWords ships the files that the words of a command name, with the same names, and returns the command for the
// task. The first word may be the path of a file that is shipped by its base name
// (StreamJob.unqualifyIfLocalPath), and an absolute path of a file that cannot be executed is: tasks can execute what
// is shipped, and so such a file runs however its path is written.
func (b *builder) shipWords(where string, words []string) ([]string, error) {
	words = slices.Clone(words)
	for i, word := range words {
		name := path.Clean(word)
		if word == "" {
			continue
		}
		if b.shipped(name) {
			if strings.Contains(word, "..") {
				words[i] = name // the folders on the way need not be there
			}
			continue
		}
		if i == 0 {
			if shippedAs := b.shippedAs(word); shippedAs != "" {
				words[0] = shippedAs
				continue
			}
			if !strings.Contains(word, "/") && b.onPath(word) {
				continue // a file of that name in the folder is not what is meant
			}
		}
		if !b.isFile(word) {
			continue
		}
		file := b.abs(word)
		switch {
		case file != word:
		case i > 0 || unix.Access(word, unix.X_OK) == nil:
			continue
		default: // a program that tasks could not execute at its own place
			name = path.Base(word)
			words[0] = name
		}
		if strings.HasPrefix(name, "../") {
			words[i] = file // it is not a name in the task's folder
			continue
		}
		if err := b.addFile(where, job.ShipFile{Path: file, Name: name}); err != nil {
			return nil, err
		}
		b.note("%s names %s, which is shipped to the tasks", where, name)
	}
	return words, nil
}

// shippedAs returns the name of the shipped file to which a path leads.
func (b *builder) shippedAs(word string) string {
	if !strings.Contains(word, "/") {
		return ""
	}
	real, err := filepath.EvalSymlinks(b.abs(word))
	if err != nil {
		return ""
	}
	for _, f := range b.mr.Files {
		if shipped, err := filepath.EvalSymlinks(f.Path); err == nil && shipped == real && !f.Archive {
			return f.Name
		}
	}
	return ""
}

// isFile reports whether a word names a regular file, relative to the user's folder.
func (b *builder) isFile(word string) bool {
	if strings.ContainsRune(word, 0) {
		return false
	}
	info, err := os.Stat(b.abs(word))
	return err == nil && info.Mode().IsRegular()
}
