// Package archive reads the archives that are shipped to tasks: .zip and .jar, and .tar
// plain or compressed, told by their names as Hadoop does. It knows nothing of jobs.
package archive

import (
	"archive/tar"
	"archive/zip"
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
	if isZip(archive) {
		return unpackZip(archive, root)
	}
	return withTar(archive, func(in io.Reader) error { return unpackTar(in, root) })
}

func unpackTar(in io.Reader, root *os.Root) error {
	for tr := tar.NewReader(in); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := member(h.Name)
		if !ok {
			continue // the folder itself
		}
		mode := fs.FileMode(h.Mode).Perm()
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, mode|0o700)
		case tar.TypeReg:
			err = writeMember(root, name, mode, tr)
		case tar.TypeSymlink:
			err = placeMember(root, name, func() error { return root.Symlink(h.Linkname, name) })
		case tar.TypeLink:
			target, _ := member(h.Linkname)
			err = placeMember(root, name, func() error { return root.Link(target, name) })
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("kind %q of member is not supported", h.Typeflag)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func unpackZip(archive string, root *os.Root) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // was read only
	for _, f := range z.File {
		if err := unzipMember(f, root); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func unzipMember(f *zip.File, root *os.Root) error {
	name, ok := member(f.Name)
	if !ok {
		return nil
	}
	if strings.HasSuffix(f.Name, "/") {
		return root.MkdirAll(name, 0o700)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // its checksum was told by the last read
	switch mode := f.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := io.ReadAll(io.LimitReader(r, 4096)) // PATH_MAX
		if err != nil {
			return err
		}
		return placeMember(root, name, func() error { return root.Symlink(string(target), name) })
	case mode.IsRegular():
		return writeMember(root, name, mode.Perm(), r)
	default:
		return fmt.Errorf("kind %v of member is not supported", mode.Type())
	}
}

// member returns the name below the folder that a member of an archive gets;
// false for the folder itself. os.Root refuses names that lead out of it.
func member(name string) (string, bool) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	return name, name != "."
}

// placeMember makes a member over one of the same name, and the folders above it.
func placeMember(root *os.Root, name string, place func() error) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	err := place()
	if errors.Is(err, fs.ErrExist) {
		if err := root.Remove(name); err != nil {
			return err
		}
		return place()
	}
	return err
}

func writeMember(root *os.Root, name string, mode fs.FileMode, in io.Reader) error {
	return placeMember(root, name, func() error {
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o400)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, in)
		return errors.Join(err, f.Close())
	})
}
