// Package archive reads and unpacks the archives that are shipped to tasks: .zip, .jar, and
// .tar, which may be compressed. As in Hadoop, the suffix of the name says which kind an
// archive is. The package knows nothing of jobs.
package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Unpack unpacks an archive into a folder. It writes nothing outside of the folder (os.Root),
// whatever names and links the archive contains.
func Unpack(archive, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // its files are closed one by one
	return each(archive, func(m member) error {
		name, ok := local(m.name)
		if !ok {
			return nil // the folder itself
		}
		if err := unpack(root, name, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		return nil
	})
}

// unpack creates one member with this name.
func unpack(root *os.Root, name string, m member) error {
	switch {
	case m.mode.IsDir():
		return root.MkdirAll(name, m.mode.Perm()|0o700)
	case m.mode.IsRegular():
		return replace(root, name, func() error {
			f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, m.mode.Perm()|0o400)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, m.in)
			return errors.Join(err, f.Close())
		})
	case m.mode&fs.ModeSymlink != 0:
		target := m.link
		if target == "" {
			text, err := io.ReadAll(io.LimitReader(m.in, 4096)) // PATH_MAX
			if err != nil {
				return err
			}
			target = string(text)
		}
		return replace(root, name, func() error { return root.Symlink(target, name) })
	case m.link != "":
		target, _ := local(m.link)
		return replace(root, name, func() error { return root.Link(target, name) })
	default:
		return fmt.Errorf("members of type %s are not supported", m.kind)
	}
}

// local returns the name of an archive's member relative to the folder, and false for the
// folder itself. os.Root refuses names that lead out of the folder.
func local(name string) (string, bool) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	return name, name != "."
}

// replace creates a member and the folders above it. It replaces a member with the same name.
func replace(root *os.Root, name string, create func() error) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	err := create()
	if errors.Is(err, fs.ErrExist) {
		if err := root.Remove(name); err != nil {
			return err
		}
		return create()
	}
	return err
}
