// Package archive reads the archives that are shipped to tasks: .zip and .jar, and .tar
// plain or compressed, told by their names as Hadoop does. It knows nothing of jobs.
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

// Unpack unpacks an archive into a folder. Nothing is written outside of the folder,
// whatever names and links the archive holds (os.Root).
func Unpack(archive, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // its files are closed one by one
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

// unpack makes one member under that name.
func unpack(root *os.Root, name string, m member) error {
	switch {
	case m.mode.IsDir():
		return root.MkdirAll(name, m.mode.Perm()|0o700)
	case m.mode.IsRegular():
		return place(root, name, func() error {
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
		return place(root, name, func() error { return root.Symlink(target, name) })
	case m.link != "":
		target, _ := local(m.link)
		return place(root, name, func() error { return root.Link(target, name) })
	default:
		return fmt.Errorf("kind %s of member is not supported", m.kind)
	}
}

// local returns the name below the folder that a member of an archive gets;
// false for the folder itself. os.Root refuses names that lead out of it.
func local(name string) (string, bool) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	return name, name != "."
}

// place makes a member over one of the same name, and the folders above it.
func place(root *os.Root, name string, create func() error) error {
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
